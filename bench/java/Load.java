import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Loads that Kafka's own performance tools do not have. Each prints one line of figures. */
public class Load {
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "consume" -> consume(args[1], args[2], Integer.parseInt(args[3]), Long.parseLong(args[4]));
            case "single" -> single(args[1], args[2], Integer.parseInt(args[3]), Integer.parseInt(args[4]));
            case "latency" -> latency(args[1], args[2], Integer.parseInt(args[3]), Integer.parseInt(args[4]));
            case "many" -> many(args[1], args[2], Integer.parseInt(args[3]), Integer.parseInt(args[4]),
                                Integer.parseInt(args[5]));
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.exit(0);
    }

    static Properties of(String bootstrap, String... more) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        for (int i = 0; i < more.length; i += 2) properties.put(more[i], more[i + 1]);
        return properties;
    }

    static KafkaProducer<byte[], byte[]> producer(String bootstrap, String... more) {
        return new KafkaProducer<>(of(bootstrap, more), new ByteArraySerializer(), new ByteArraySerializer());
    }

    static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, String topic, int partitions) {
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
            of(bootstrap, "enable.auto.commit", "false", "auto.offset.reset", "earliest", "check.crcs", "true"),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < partitions; i++) all.add(new TopicPartition(topic, i));
        consumer.assign(all);
        return consumer;
    }

    /** Every record from the beginning: records, MB and seconds from the first poll to the last record. */
    static void consume(String bootstrap, String topic, int partitions, long count) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, topic, partitions)) {
            consumer.seekToBeginning(consumer.assignment());
            long seen = 0, bytes = 0, began = System.nanoTime();
            while (seen < count) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    seen++;
                    bytes += record.value().length;
                }
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            System.out.printf("%d %.3f %.3f%n", seen, bytes / 1e6, seconds);
        }
    }

    /** So many clients, each waiting for one record's answer before it sends the next: requests and seconds. */
    static void single(String bootstrap, String topic, int clients, int count) throws Exception {
        CountDownLatch ready = new CountDownLatch(clients), go = new CountDownLatch(1), done = new CountDownLatch(clients);
        byte[] value = new byte[100];
        for (int i = 0; i < clients; i++) {
            new Thread(() -> {
                try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap, "linger.ms", "0", "acks", "1")) {
                    producer.send(new ProducerRecord<>(topic, value)).get();
                    ready.countDown();
                    go.await();
                    for (int n = 0; n < count; n++) producer.send(new ProducerRecord<>(topic, value)).get();
                    done.countDown();
                } catch (Exception failure) {
                    failure.printStackTrace();
                    System.exit(1);
                }
            }).start();
        }
        ready.await();
        long began = System.nanoTime();
        go.countDown();
        done.await();
        System.out.printf("%d %.3f%n", (long) clients * count, (System.nanoTime() - began) / 1e9);
    }

    /** From send to receipt at a steady rate: p50, p99, p99.9 and the maximum, in microseconds. */
    static void latency(String bootstrap, String topic, int rate, int seconds) throws Exception {
        int count = rate * seconds, warm = count / 4;
        long[] took = new long[count];
        CountDownLatch received = new CountDownLatch(count), listening = new CountDownLatch(1);
        Thread reader = new Thread(() -> {
            try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, topic, 1)) {
                consumer.seekToEnd(consumer.assignment());
                consumer.position(new TopicPartition(topic, 0));
                listening.countDown();
                int at = 0;
                while (at < count) {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                        long sent = java.nio.ByteBuffer.wrap(record.value()).getLong();
                        took[at++] = System.nanoTime() - sent;
                        received.countDown();
                    }
                }
            }
        });
        reader.start();
        listening.await();
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap, "linger.ms", "0", "acks", "1")) {
            producer.partitionsFor(topic);
            long began = System.nanoTime();
            for (int n = 0; n < count; n++) {
                long due = began + n * 1_000_000_000L / rate;
                for (long left; (left = due - System.nanoTime()) > 0;) java.util.concurrent.locks.LockSupport.parkNanos(left);
                byte[] value = new byte[100];
                java.nio.ByteBuffer.wrap(value).putLong(System.nanoTime());
                producer.send(new ProducerRecord<>(topic, value));
            }
            received.await();
        }
        long[] sorted = Arrays.copyOfRange(took, warm, count);
        Arrays.sort(sorted);
        System.out.printf("%.0f %.0f %.0f %.0f%n", at(sorted, 0.5), at(sorted, 0.99), at(sorted, 0.999), at(sorted, 1));
    }

    static double at(long[] sorted, double fraction) {
        return sorted[(int) Math.min(sorted.length - 1, Math.ceil(fraction * sorted.length))] / 1e3;
    }

    /** So many producers at once, each writing to every partition in turn: records and seconds. */
    static void many(String bootstrap, String topic, int producers, int partitions, int count) throws Exception {
        AtomicLong acknowledged = new AtomicLong();
        List<KafkaProducer<byte[], byte[]>> all = new ArrayList<>();
        byte[] value = new byte[100];
        for (int i = 0; i < producers; i++) {
            KafkaProducer<byte[], byte[]> producer = producer(bootstrap, "linger.ms", "20", "acks", "1",
                "buffer.memory", "1048576", "batch.size", "16384", "enable.idempotence", "false");
            producer.send(new ProducerRecord<>(topic, i % partitions, null, value)).get();
            all.add(producer);
        }
        long began = System.nanoTime();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            int mine = t;
            threads[t] = new Thread(() -> {
                for (int n = 0; n < count; n++)
                    for (int i = mine; i < all.size(); i += threads.length)
                        all.get(i).send(new ProducerRecord<>(topic, (i * 31 + n / 50) % partitions, null, value), (m, failure) -> {
                            if (failure != null) { failure.printStackTrace(); System.exit(1); }
                            acknowledged.incrementAndGet();
                        });
            });
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
        for (KafkaProducer<byte[], byte[]> producer : all) producer.flush();
        System.out.printf("%d %.3f%n", acknowledged.get(), (System.nanoTime() - began) / 1e9);
    }
}
