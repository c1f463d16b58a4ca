import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Apache Curator behind dlmtest's lock client protocol (docs/protocol.md):
 * java -cp /usr/share/java/curator-recipes.jar:/usr/share/java/slf4j-simple.jar Curator.java [mutex|rw|downgrade|semaphore]
 * With downgrade a reader comes in as a writer if it can, takes the read lock and gives the write lock back,
 * which the documentation of InterProcessReadWriteLock names as the way from one to the other.
 * Curator tells no validity and no token. Each grant has a thread of its own, as mutexes want it; one that is taken
 * on behalf of a thread has that one's, which may take again what it holds.
 */
@SuppressWarnings("unchecked")
public class Curator {
    /** An answer that is an error: code says what it proves. */
    static class Refused extends Exception {
        final String code;
        Refused(String code, String message) { super(message); this.code = code; }
    }

    /** What is locked; it is given back on the thread that acquired it. */
    record Grant(AutoCloseable held, ExecutorService thread, boolean named) {}
    static final ObjectMapper json = new ObjectMapper();
    static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    static final Map<String, Grant> grants = new ConcurrentHashMap<>();
    static final ExecutorService others = Executors.newCachedThreadPool();
    static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>(); // by their names
    static final Map<String, InterProcessMutex> nested = new ConcurrentHashMap<>(); // by path: a mutex knows its own thread alone
    static String kind = "mutex";
    static CuratorFramework zk;
    static boolean cut; // suspended, and neither resumed nor lost since

    public static void main(String[] args) throws Exception {
        System.setOut(System.err);
        if (args.length > 0) kind = args[0];
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            Map<String, Object> r = json.readValue(line, Map.class);
            var grant = grants.get((String) r.getOrDefault("grant", ""));
            switch ((String) r.get("do")) {
                case "acquire", "try" -> {
                    var name = (String) r.get("thread");
                    var own = name == null ? Executors.newSingleThreadExecutor() : threads.computeIfAbsent(name, n -> Executors.newSingleThreadExecutor());
                    own.submit(() -> answer(r, () -> acquire(r, own)));
                }
                case "release" -> (grant == null ? others : grant.thread).submit(() -> answer(r, () -> release(r)));
                default -> others.submit(() -> answer(r, () -> other(r)));
            }
        }
        Runtime.getRuntime().halt(0); // threads of the library do not keep it
    }

    static void answer(Map<String, Object> r, Callable<Map<String, Object>> doing) {
        try {
            say(Map.of("id", r.get("id"), "ok", doing.call()));
        } catch (Refused e) {
            say(Map.of("id", r.get("id"), "error", Map.of("code", e.code, "message", "" + e.getMessage())));
        } catch (Throwable e) { // whatever a library throws is an answer: nobody knows what has become of it
            e.printStackTrace();
            say(Map.of("id", r.get("id"), "error", Map.of("code", "unknown", "message", "" + e)));
        }
    }

    static synchronized void say(Map<String, Object> message) {
        out.println((Object) json.valueToTree(message));
    }

    static Map<String, Object> other(Map<String, Object> r) throws Exception {
        switch ((String) r.get("do")) {
            case "hello" -> {
                if (!((List<Integer>) r.get("versions")).contains(1)) throw new Refused("unsupported", "this adapter speaks version 1");
                var offers = new ArrayList<>(List.of("concurrent", "try", "events", "lease", "renews", "wait"));
                if (!kind.equals("semaphore")) offers.add("order");
                if (kind.equals("rw") || kind.equals("downgrade")) offers.add("shared");
                if (kind.equals("semaphore")) offers.add("permits");
                if (kind.equals("mutex") || kind.equals("rw")) offers.add("reentrant");
                return new TreeMap<>(Map.of("version", 1, "name", kind.equals("mutex") ? "curator" : "curator-" + kind, "library", version(), "offers", offers));
            }
            case "open" -> open(String.join(",", (List<String>) r.get("endpoints")), ((Number) r.get("lease_ms")).intValue());
            case "close" -> { if (zk != null) zk.close(); }
            case "ping" -> { }
            default -> throw new Refused("unsupported", "no such request");
        }
        return Map.of();
    }

    static String version() throws Exception {
        var pom = new Properties();
        pom.load(InterProcessMutex.class.getResourceAsStream("/META-INF/maven/org.apache.curator/curator-recipes/pom.properties"));
        return pom.getProperty("version");
    }

    static void open(String servers, int lease) throws Exception {
        zk = CuratorFrameworkFactory.newClient(servers, lease, lease, new ExponentialBackoffRetry(1000, 3));
        zk.getConnectionStateListenable().addListener((client, state) -> {
            var survived = state == ConnectionState.RECONNECTED && cut;
            cut = state == ConnectionState.SUSPENDED;
            if (cut || survived) tell(cut ? "suspended" : "resumed", state);
            if (state == ConnectionState.LOST) { nested.clear(); tell("lost", state); } // it would still count what was held
        });
        zk.start();
        if (!zk.blockUntilConnected(10, TimeUnit.SECONDS)) throw new Exception("no connection to " + servers);
    }

    static void tell(String event, ConnectionState state) {
        say(Map.of("event", event, "why", "" + state, "at_ns", System.nanoTime())); // which is CLOCK_MONOTONIC
    }

    static Map<String, Object> acquire(Map<String, Object> r, ExecutorService own) throws Exception {
        var path = "/dlmtest/curator-" + kind + "/" + java.net.URLEncoder.encode((String) r.get("key"), StandardCharsets.UTF_8);
        long wait = ((Number) r.getOrDefault("wait_ms", 0)).longValue();
        var named = r.containsKey("thread");
        var held = named ? again(path, wait) : take(path, wait, "shared".equals(r.get("mode")), (int) r.getOrDefault("permits", 1), (int) r.getOrDefault("want", 1));
        if (held == null && !named) own.shutdown();
        if (held == null) throw new Refused("held", "by another");
        var name = UUID.randomUUID().toString();
        grants.put(name, new Grant(held, own, named));
        return Map.of("grant", name);
    }

    /** What its own thread holds is granted again at once. */
    static AutoCloseable again(String path, long wait) throws Exception {
        var mutex = nested.computeIfAbsent(path, p -> kind.equals("rw") ? new InterProcessReadWriteLock(zk, p).writeLock() : new InterProcessMutex(zk, p));
        return mutex.acquire(wait, TimeUnit.MILLISECONDS) ? mutex::release : null;
    }

    static AutoCloseable take(String path, long wait, boolean shared, int permits, int want) throws Exception {
        if (kind.equals("semaphore")) {
            var semaphore = new InterProcessSemaphoreV2(zk, path, permits);
            var leases = semaphore.acquire(want, wait, TimeUnit.MILLISECONDS);
            return leases == null ? null : () -> semaphore.returnAll(leases);
        }
        var rw = new InterProcessReadWriteLock(zk, path);
        if (kind.equals("downgrade") && shared) {
            if (downgraded(rw, wait / 4)) return rw.readLock()::release;
            wait -= wait / 4;
        }
        InterProcessMutex mutex = kind.equals("mutex") ? new InterProcessMutex(zk, path) : shared ? rw.readLock() : rw.writeLock();
        return mutex.acquire(wait, TimeUnit.MILLISECONDS) ? mutex::release : null;
    }

    /** A reader that was the writer: no other writer may come between. */
    static boolean downgraded(InterProcessReadWriteLock rw, long wait) throws Exception {
        if (!rw.writeLock().acquire(wait, TimeUnit.MILLISECONDS)) return false;
        rw.readLock().acquire(); // at once: its own thread is the writer
        rw.writeLock().release();
        return true;
    }

    static Map<String, Object> release(Map<String, Object> r) throws Exception {
        var grant = grants.get((String) r.get("grant"));
        if (grant == null) throw new Refused("not-held", "it was released, or never granted");
        grant.held.close();
        grants.remove((String) r.get("grant"));
        if (!grant.named) grant.thread.shutdown();
        return Map.of();
    }
}
