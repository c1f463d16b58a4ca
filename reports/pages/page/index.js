// Shows only cells of one outcome, and moves the focus from cell to cell. Without it
// the page shows everything.
(function () {
  'use strict';
  var table = document.getElementById('matrix'), bar = document.querySelector('.filter');
  var rows = Array.from(table.tBodies[0].rows), shown = document.getElementById('shown');

  // show leaves the cells of a class; of rows that have none nothing.
  function show(kind) {
    var n = 0, left = 0;
    rows.forEach(function (row) {
      var here = 0;
      Array.from(row.cells).slice(1).forEach(function (td) {
        var is = kind === '' || td.classList.contains(kind);
        td.classList.toggle('out', !is);
        if (is) { here++; }
      });
      row.hidden = kind !== '' && here === 0;
      n += here;
      left += row.hidden ? 0 : 1;
    });
    shown.textContent = kind === '' ? '' : n + ' in ' + left + (left === 1 ? ' scenario' : ' scenarios');
    bar.querySelectorAll('button').forEach(function (b) { b.setAttribute('aria-pressed', String(b.dataset.show === kind)); });
  }

  bar.hidden = false;
  document.getElementById('how').hidden = false;
  bar.addEventListener('click', function (e) {
    var b = e.target.closest('button');
    if (b) { show(b.getAttribute('aria-pressed') === 'true' ? '' : b.dataset.show); }
  });

  function focus(td) {
    var to = td.querySelector('a') || td;
    if (to === td) { td.tabIndex = -1; }
    to.focus();
    to.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  table.addEventListener('keydown', function (e) {
    var td = e.target.closest('td');
    var by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
    if (!td || !by) { return; }
    var seen = rows.filter(function (r) { return !r.hidden; });
    var row = seen[seen.indexOf(td.parentNode) + by[0]];
    var to = row && row.cells[td.cellIndex + by[1]];
    if (to && to.tagName === 'TD') { e.preventDefault(); focus(to); }
  });
})();
