import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The Java client, doing what standard input asks for, a line of JSON each; talking.py has the other side. */
public class Client {
    static final ObjectMapper JSON = new ObjectMapper();
    static final int LARGE = 20 * 1024 * 1024;

    final String bootstrap;
    final Admin admin;
    KafkaConsumer<String, String> consumer;
    final List<ConsumerRecord<String, String>> unread = new ArrayList<>();
    final Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();

    Client(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(settings(Map.of()));
    }

    public static void main(String[] arguments) throws Exception {
        Client client = new Client(arguments[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("answer", JSON.valueToTree(client.carryOut(JSON.readTree(line))));
            } catch (ExecutionException failed) {
                answer.put("refused", Errors.forException(failed.getCause()).code());
                answer.put("words", String.valueOf(failed.getCause().getMessage()));
            }
            out.println(JSON.writeValueAsString(answer));
        }
    }

    Object carryOut(JsonNode asked) throws Exception {
        switch (asked.get("do").asText()) {
            case "produce": return produce(asked);
            case "assign": return assign(partitions(asked.get("topics")), asked.get("position"));
            case "read": return read(asked.get("count").asInt());
            case "join": return join(text(asked, "group"), text(asked, "topic"));
            case "await_partitions": return awaitPartitions(asked.get("count").asInt());
            case "commit": return commit();
            case "leave": return leave();
            case "create_topics": return createTopics(asked);
            case "topics": return topics();
            case "delete_topics": return admin.deleteTopics(strings(asked.get("names"))).all().get();
            case "add_partitions": return addPartitions(text(asked, "topic"), asked.get("total").asInt());
            case "settings": return topicSettings(text(asked, "topic"));
            case "change_settings": return changeSettings(text(asked, "topic"), asked.get("settings"));
            case "offset": return offset(text(asked, "topic"), asked.get("position"));
            case "delete_records": return deleteRecords(text(asked, "topic"), asked.get("before").asLong());
            case "log_sizes": return logSizes();
            default: throw new IllegalArgumentException(asked.toString());
        }
    }

    // -- producing and consuming ---------------------------------------------------------------------------

    Object produce(JsonNode asked) throws Exception {
        Map<String, Object> settings = settings(Map.of(
            "compression.type", text(asked, "codec"),
            "acks", text(asked, "acks"),
            "enable.idempotence", asked.get("idempotent").asBoolean(),
            "linger.ms", 5,
            "buffer.memory", 2 * LARGE,
            "max.request.size", LARGE));
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode each : asked.get("records")) {
                JsonNode when = each.get("timestamp");
                List<Header> headers = new ArrayList<>();
                for (JsonNode header : each.get("headers")) {
                    String value = header.get(1).textValue();
                    headers.add(new RecordHeader(header.get(0).asText(), value == null ? null : value.getBytes()));
                }
                sent.add(producer.send(new ProducerRecord<>(
                    text(asked, "topic"), 0, when.isNull() ? null : when.asLong(),
                    each.get("key").textValue(), each.get("value").textValue(), headers)));
            }
            for (Future<RecordMetadata> each : sent) each.get();
        }
        return null;
    }

    Object assign(List<TopicPartition> partitions, JsonNode position) {
        open(Map.of());
        consumer.assign(partitions);
        long number = position.get("number").asLong();
        switch (text(position, "kind")) {
            case "earliest": consumer.seekToBeginning(partitions); break;
            case "latest": consumer.seekToEnd(partitions); break;
            case "offset": partitions.forEach(each -> consumer.seek(each, number)); break;
            case "time":
                Map<TopicPartition, Long> times = new HashMap<>();
                partitions.forEach(each -> times.put(each, number));
                for (Map.Entry<TopicPartition, OffsetAndTimestamp> each : consumer.offsetsForTimes(times).entrySet())
                    consumer.seek(each.getKey(), each.getValue().offset());
                break;
            default: throw new IllegalArgumentException(position.toString());
        }
        partitions.forEach(consumer::position);
        return null;
    }

    Object read(int count) {
        long deadline = System.currentTimeMillis() + 30_000;
        while (unread.size() < count && System.currentTimeMillis() < deadline)
            consumer.poll(Duration.ofMillis(200)).forEach(unread::add);
        ArrayNode found = JSON.createArrayNode();
        for (ConsumerRecord<String, String> each : unread.subList(0, Math.min(count, unread.size()))) {
            next.put(new TopicPartition(each.topic(), each.partition()), new OffsetAndMetadata(each.offset() + 1));
            ObjectNode told = found.addObject();
            told.put("topic", each.topic()).put("offset", each.offset());
            ObjectNode record = told.putObject("record");
            record.put("key", each.key()).put("value", each.value()).put("timestamp", each.timestamp());
            ArrayNode headers = record.putArray("headers");
            for (Header header : each.headers())
                headers.addArray().add(header.key()).add(header.value() == null ? null : new String(header.value()));
        }
        unread.subList(0, Math.min(count, unread.size())).clear();
        return found;
    }

    void open(Map<String, Object> more) {
        leave();
        Map<String, Object> settings = settings(more);
        settings.put("auto.offset.reset", "earliest");
        settings.put("max.partition.fetch.bytes", LARGE);
        settings.put("enable.auto.commit", false);
        settings.put("fetch.max.wait.ms", 20); // it waits for its last fetch before it closes
        consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    // -- groups --------------------------------------------------------------------------------------------

    Object join(String group, String topic) {
        open(Map.of("group.id", group, "heartbeat.interval.ms", 100));
        consumer.subscribe(List.of(topic));
        return null;
    }

    Object awaitPartitions(int count) {
        while (consumer.assignment().size() != count)
            consumer.poll(Duration.ofMillis(20)).forEach(unread::add);
        return null;
    }

    Object commit() {
        consumer.commitSync(next);
        return null;
    }

    Object leave() {
        if (consumer != null) consumer.close();
        consumer = null;
        unread.clear();
        next.clear();
        return null;
    }

    // -- administration ------------------------------------------------------------------------------------

    Object createTopics(JsonNode asked) throws Exception {
        List<NewTopic> topics = new ArrayList<>();
        for (String name : strings(asked.get("names")))
            topics.add(new NewTopic(name, asked.get("partitions").asInt(), (short) 1)
                .configs(JSON.convertValue(asked.get("settings"), Map.class)));
        return admin.createTopics(topics).all().get();
    }

    Object topics() throws Exception {
        return admin.describeTopics(admin.listTopics().names().get()).allTopicNames().get().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().partitions().size()));
    }

    Object addPartitions(String topic, int total) throws Exception {
        return admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(total))).all().get();
    }

    Object topicSettings(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return admin.describeConfigs(List.of(resource)).all().get().get(resource).entries().stream()
            .collect(Collectors.toMap(ConfigEntry::name, ConfigEntry::value));
    }

    Object changeSettings(String topic, JsonNode settings) throws Exception {
        List<AlterConfigOp> changes = new ArrayList<>();
        settings.fields().forEachRemaining(each -> changes.add(new AlterConfigOp(
            new ConfigEntry(each.getKey(), each.getValue().asText()), AlterConfigOp.OpType.SET)));
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
    }

    Object offset(String topic, JsonNode position) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        OffsetSpec asked;
        switch (text(position, "kind")) {
            case "earliest": asked = OffsetSpec.earliest(); break;
            case "latest": asked = OffsetSpec.latest(); break;
            case "largest time": asked = OffsetSpec.maxTimestamp(); break;
            default: asked = OffsetSpec.forTimestamp(position.get("number").asLong());
        }
        return admin.listOffsets(Map.of(partition, asked)).partitionResult(partition).get().offset();
    }

    Object deleteRecords(String topic, long before) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        return admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(before)))
            .lowWatermarks().get(partition).get().lowWatermark();
    }

    Object logSizes() throws Exception {
        Map<String, Long> sizes = new HashMap<>();
        admin.describeLogDirs(List.of(0)).allDescriptions().get().get(0).values().forEach(directory ->
            directory.replicaInfos().forEach((partition, replica) -> {
                if (partition.partition() == 0) sizes.put(partition.topic(), replica.size());
            }));
        return sizes;
    }

    // ------------------------------------------------------------------------------------------------------

    Map<String, Object> settings(Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("bootstrap.servers", bootstrap);
        return settings;
    }

    static List<TopicPartition> partitions(JsonNode topics) {
        return strings(topics).stream().map(topic -> new TopicPartition(topic, 0)).collect(Collectors.toList());
    }

    static List<String> strings(JsonNode array) {
        List<String> strings = new ArrayList<>();
        array.forEach(each -> strings.add(each.asText()));
        return strings;
    }

    static String text(JsonNode object, String name) {
        return object.get(name).asText();
    }
}
