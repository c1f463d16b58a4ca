// Moves a line over all charts at once, so that one instant can be read in each.
(function () {
  'use strict';
  var read = document.getElementById('read');

  function group(svg) { return svg.closest('.charts').querySelectorAll('svg'); }

  // show puts the line at a share (0 to 1) of the axis.
  function show(svg, share) {
    share = Math.min(Math.max(share, 0), 1);
    group(svg).forEach(function (s) {
      var left = +s.dataset.left, right = +s.dataset.right, line = s.querySelector('.cross');
      line.setAttribute('transform', 'translate(' + (left + share * (right - left)) + ' 0)');
      line.setAttribute('visibility', 'visible');
    });
    svg.dataset.share = share;
    var at = (+svg.dataset.from + share * (svg.dataset.to - svg.dataset.from)) / 1e6;
    read.textContent = 'The line is at ' + (at < 0 ? '−' : '+') + Math.abs(at).toFixed(3) + ' s.';
  }

  function hide(svg) {
    group(svg).forEach(function (s) { s.querySelector('.cross').setAttribute('visibility', 'hidden'); });
    read.textContent = '';
  }

  document.querySelectorAll('.charts svg').forEach(function (svg) {
    svg.addEventListener('pointermove', function (e) {
      var box = svg.getBoundingClientRect(), left = +svg.dataset.left, right = +svg.dataset.right;
      var x = (e.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      if (x < left) { hide(svg); } else { show(svg, (x - left) / (right - left)); }
    });
    svg.addEventListener('pointerleave', function () { hide(svg); });
    svg.addEventListener('blur', function () { hide(svg); });
    svg.addEventListener('keydown', function (e) {
      var step = { ArrowLeft: -0.005, ArrowRight: 0.005, PageUp: -0.05, PageDown: 0.05 }[e.key];
      var to = { Home: 0, End: 1 }[e.key];
      if (step === undefined && to === undefined) { return; }
      e.preventDefault();
      show(svg, to === undefined ? +(svg.dataset.share || 0) + step : to);
    });
  });
})();
