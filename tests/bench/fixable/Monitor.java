// SPDX-License-Identifier: GPL-2.0-or-later
// Eight threads hold a monitor while they sleep for 2 ms: all the same one, or each its own. Prints how often that got done a
// second.
//
//   java Monitor one|each SECONDS
import java.util.concurrent.atomic.AtomicLong;

public class Monitor {
    private static final int THREADS = 8;
    private static final AtomicLong done = new AtomicLong();
    private static volatile double value = 1;

    private static void askService() throws InterruptedException {
        Thread.sleep(2);
    }

    private static void useAnswer() {
        double mine = value;
        for (int i = 0; i < 20_000; ++i) mine = mine * 1.0000001;
        value = mine > 1e9 ? 1 : mine;
    }

    private static void work(Object monitor) {
        try {
            for (;;) {
                synchronized (monitor) {
                    askService();
                }
                useAnswer();
                done.incrementAndGet();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        boolean each = arguments[0].equals("each");
        long seconds = Long.parseLong(arguments[1]);
        Object shared = new Object();
        for (int i = 0; i < THREADS; ++i) {
            Object monitor = each ? new Object() : shared;
            Thread thread = new Thread(() -> work(monitor), "updater-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(1000 * seconds);
        System.out.println("rate " + (double) done.get() / seconds);
    }
}
