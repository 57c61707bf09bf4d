// Fills the topics of this directory through a real broker, or prints what a consumer reads of them.
//   Fill <bootstrap> create            makes the topics
//   Fill <bootstrap> produce <round>   rounds 0 to 3: the same producers again, with other records
//   Fill <bootstrap> commit            offsets of a group, by its member and in transactions
//   Fill <bootstrap> consume TOPIC...  every record of these topics, one JSON object a line
// Everything but timestamps and producer ids follows from the round's number.

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Fill {
    static final String[] TOPICS = {"plain", "codecs", "append-time", "transactions", "compacted", "compacted-gzip"};
    static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};
    static String bootstrap;

    public static void main(String[] arguments) throws Exception {
        bootstrap = arguments[0];
        switch (arguments[1]) {
            case "create" -> create();
            case "produce" -> produce(Integer.parseInt(arguments[2]));
            case "consume" -> {
                for (int i = 2; i < arguments.length; i++) {
                    consume(arguments[i], "read_uncommitted");
                    consume(arguments[i], "read_committed");
                }
            }
            case "commit" -> commit();
            default -> throw new IllegalArgumentException(arguments[1]);
        }
    }

    static void create() throws Exception {
        Map<String, String> small = Map.of("segment.bytes", "4000", "index.interval.bytes", "400",
            "retention.ms", "-1", "message.timestamp.after.max.ms", "9223372036854775807");
        try (Admin admin = Admin.create(properties())) {
            List<NewTopic> topics = new ArrayList<>();
            for (String topic : TOPICS) {
                Map<String, String> configs = new HashMap<>(small);
                if (topic.equals("append-time") || topic.equals("compacted-gzip"))
                    configs.put("message.timestamp.type", "LogAppendTime");
                if (topic.startsWith("compacted")) {
                    configs.put("cleanup.policy", "compact");
                    configs.put("min.cleanable.dirty.ratio", "0.001");
                }
                if (topic.equals("compacted")) configs.put("delete.retention.ms", "0");
                if (topic.equals("compacted-gzip")) configs.put("compression.type", "gzip");
                topics.add(new NewTopic(topic, 1, (short) 1).configs(configs));
            }
            admin.createTopics(topics).all().get();
        }
    }

    static void produce(int round) throws Exception {
        plain(round);
        codecs(round);
        appendTime(round);
        transactions(round);
        keyed("compacted", round);
        keyed("compacted-gzip", round);
    }

    /** Timestamps out of order, headers, records without key or value. */
    static void plain(int round) throws Exception {
        try (var producer = producer("none", false, null)) {
            for (int i = 0; i < 60; i++) {
                long timestamp = 1_700_000_000_000L + round * 100_000 + (i * 37 % 60) * 1000;
                var record = new ProducerRecord<>("plain", 0, timestamp, i % 7 == 0 ? null : bytes("key " + i),
                    i % 11 == 0 ? null : bytes("round " + round + " value " + i + " ".repeat(i)));
                for (int h = 0; h < i % 3; h++)
                    record.headers().add("header " + h, i % 2 == 0 ? null : bytes("of " + i));
                producer.send(record);
                if (i % 4 == 3) producer.flush();
            }
        }
    }

    static void codecs(int round) throws Exception {
        for (String codec : CODECS) {
            try (var producer = producer(codec, true, null)) {
                for (int batch = 0; batch < 2; batch++) {
                    for (int i = 0; i < 8; i++)
                        producer.send(new ProducerRecord<>("codecs", 0, bytes(codec + i), bytes("compressed with " + codec + " ".repeat(40) + round)));
                    producer.flush();
                }
            }
        }
    }

    static void appendTime(int round) throws Exception {
        try (var producer = producer("none", false, null)) {
            for (int i = 0; i < 20; i++) {
                producer.send(new ProducerRecord<>("append-time", 0, 1_600_000_000_000L, bytes("" + i), bytes("round " + round)));
                if (i % 3 == 0) producer.flush();
            }
        }
    }

    /** Two transactional producers take turns inside each other's transactions; a third writes outside of any. */
    static void transactions(int round) throws Exception {
        try (var a = producer("none", true, "producer-a"); var b = producer("none", true, "producer-b"); var c = producer("none", true, null)) {
            a.initTransactions();
            b.initTransactions();
            for (int i = 0; i < 8; i++) {
                a.beginTransaction();
                b.beginTransaction();
                send(a, "transactions", "a" + i, "a of round " + round);
                send(b, "transactions", "b" + i, "b of round " + round);
                send(c, "transactions", "c" + i, "c of round " + round);
                send(a, "transactions", "a" + i, "a again");
                if (i % 3 == 0) a.abortTransaction(); else a.commitTransaction();
                send(b, "transactions", "b" + i, "b again");
                if (i % 4 == 1) b.abortTransaction(); else b.commitTransaction();
            }
        }
        if (round == 3) {
            // One that stays undecided, so that what follows is not stable: its producer is never closed.
            var d = producer("none", true, "producer-d");
            d.initTransactions();
            d.beginTransaction();
            send(d, "transactions", "d", "d of round " + round);
            try (var e = producer("none", true, null)) {
                send(e, "transactions", "e", "e of round " + round);
            }
        }
    }

    /** Few keys, many versions, tombstones; from producers without ids, idempotent and transactional ones. */
    static void keyed(String topic, int round) throws Exception {
        Random random = new Random(round);
        List<KafkaProducer<byte[], byte[]>> producers = new ArrayList<>();
        producers.add(producer("none", false, null));
        producers.add(producer("none", true, null));
        producers.add(producer("snappy", true, null));
        for (int t = 0; t < 3; t++) {
            producers.add(producer("none", true, topic + "-" + t));
            producers.get(3 + t).initTransactions();
        }
        send(producers.get(0), topic, "only of round " + round, null);
        boolean[] open = new boolean[producers.size()];
        for (int step = 0; step < 120; step++) {
            int who = random.nextInt(producers.size());
            var producer = producers.get(who);
            if (who >= 3 && !open[who]) {
                producer.beginTransaction();
                open[who] = true;
            }
            int count = 1 + random.nextInt(4);
            for (int i = 0; i < count; i++) {
                byte[] value = random.nextInt(4) == 0 ? null : bytes("round " + round + " step " + step + "." + i);
                producer.send(new ProducerRecord<>(topic, 0, bytes("key " + random.nextInt(12 + 20 * round)), value));
            }
            producer.flush();
            if (who >= 3 && random.nextInt(3) == 0) {
                if (random.nextBoolean()) producer.commitTransaction(); else producer.abortTransaction();
                open[who] = false;
            }
        }
        for (int who = 3; who < open.length; who++)
            if (open[who]) { if (who % 2 == 0) producers.get(who).commitTransaction(); else producers.get(who).abortTransaction(); }
        // So that every record above lies below the active segment, which is never cleaned.
        for (int i = 0; i < 6; i++) {
            producers.get(0).send(new ProducerRecord<>(topic, 0, bytes("last " + i), bytes("!".repeat(400))));
            producers.get(0).flush();
        }
        producers.forEach(KafkaProducer::close);
    }

    static void commit() throws Exception {
        Properties properties = properties();
        properties.put("group.id", "readers");
        properties.put("client.id", "a reader");
        try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
             var producer = producer("none", true, "producer-e")) {
            consumer.subscribe(List.of("plain", "codecs"));
            while (consumer.assignment().isEmpty()) consumer.poll(Duration.ofMillis(50));
            consumer.commitSync(Map.of(new TopicPartition("plain", 0), new OffsetAndMetadata(7, "by hand")));
            producer.initTransactions();
            for (boolean abort : new boolean[] {false, true}) {
                producer.beginTransaction();
                producer.sendOffsetsToTransaction(Map.of(new TopicPartition("codecs", 0), new OffsetAndMetadata(9)), consumer.groupMetadata());
                if (abort) producer.abortTransaction(); else producer.commitTransaction();
            }
        }
        try (Admin admin = Admin.create(properties())) {
            admin.deleteConsumerGroupOffsets("readers", Set.of(new TopicPartition("plain", 0))).all().get();
        }
    }

    static void consume(String topic, String isolation) {
        Properties properties = properties();
        properties.put("isolation.level", isolation);
        TopicPartition partition = new TopicPartition(topic, 0);
        try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end)
                for (var record : consumer.poll(Duration.ofMillis(200)))
                    print(record, isolation);
        }
    }

    static void print(ConsumerRecord<byte[], byte[]> record, String isolation) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) {
            if (headers.length() > 0) headers.append(", ");
            headers.append("[\"").append(header.key()).append("\", ").append(text(header.value())).append("]");
        }
        System.out.printf("{\"topic\": \"%s\", \"isolation\": \"%s\", \"offset\": %d, \"epoch\": %d, \"timestamp\": %d, \"timestamp_type\": \"%s\", \"key\": %s, \"value\": %s, \"headers\": [%s]}%n",
            record.topic(), isolation, record.offset(), record.leaderEpoch().orElse(-1), record.timestamp(), record.timestampType(),
            text(record.key()), text(record.value()), headers);
    }

    static void send(KafkaProducer<byte[], byte[]> producer, String topic, String key, String value) {
        producer.send(new ProducerRecord<>(topic, 0, bytes(key), value == null ? null : bytes(value)));
        producer.flush();
    }

    static KafkaProducer<byte[], byte[]> producer(String codec, boolean idempotent, String transactionalId) {
        Properties properties = properties();
        properties.put("compression.type", codec);
        properties.put("enable.idempotence", String.valueOf(idempotent));
        properties.put("linger.ms", "1000");
        if (transactionalId != null) properties.put("transactional.id", transactionalId);
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    static Properties properties() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return properties;
    }

    static byte[] bytes(String text) { return text.getBytes(StandardCharsets.UTF_8); }

    static String text(byte[] bytes) { return bytes == null ? "null" : "\"" + new String(bytes, StandardCharsets.UTF_8) + "\""; }
}
