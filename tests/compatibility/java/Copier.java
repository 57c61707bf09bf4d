import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Copies one topic to another, each record once, whatever happens to it: BOOTSTRAP FROM TO ID.
 * Every fourth transaction is aborted and done again. It says "copied N" after each, and ends when nobody reads on.
 */
class Copier {
    public static void main(String[] arguments) {
        String bootstrap = arguments[0], from = arguments[1], to = arguments[2], id = arguments[3];
        var producer = new KafkaProducer<>(
            Map.<String, Object>of("bootstrap.servers", bootstrap, "transactional.id", id, "transaction.timeout.ms", 10_000),
            new StringSerializer(), new StringSerializer());
        var consumer = new KafkaConsumer<>(
            Map.<String, Object>of("bootstrap.servers", bootstrap, "group.id", id, "auto.offset.reset", "earliest",
                "enable.auto.commit", false, "isolation.level", "read_committed", "max.poll.records", 50,
                "group.instance.id", id),
            new StringDeserializer(), new StringDeserializer());
        producer.initTransactions();
        consumer.subscribe(List.of(from));
        for (int number = 0; ; number++) {
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(200));
            if (records.isEmpty()) continue;
            Map<TopicPartition, OffsetAndMetadata> first = new HashMap<>(), next = new HashMap<>();
            producer.beginTransaction();
            for (ConsumerRecord<String, String> each : records) {
                TopicPartition partition = new TopicPartition(each.topic(), each.partition());
                first.putIfAbsent(partition, new OffsetAndMetadata(each.offset()));
                next.put(partition, new OffsetAndMetadata(each.offset() + 1));
                producer.send(new ProducerRecord<>(to, each.key(), each.value()));
            }
            producer.sendOffsetsToTransaction(next, consumer.groupMetadata());
            if (number % 4 == 3) {
                producer.abortTransaction();
                first.forEach(consumer::seek);
            } else {
                producer.commitTransaction();
                System.out.println("copied " + records.count());
            }
        }
    }
}
