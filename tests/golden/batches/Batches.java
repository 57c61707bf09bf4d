import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.StringJoiner;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecords.RecordFilter;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.BufferSupplier;

/** Record batches as Kafka's own classes write and read them. See README.md beside this file. */
public class Batches {
    static final long TIME = 1_700_000_000_000L;
    static final int LEADER_EPOCH = 7;
    static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("read")) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line; (line = lines.readLine()) != null; ) {
                describe("read", MemoryRecords.readableRecords(ByteBuffer.wrap(HexFormat.of().parseHex(line))));
            }
        } else {
            write();
        }
        OUT.flush();
    }

    static void write() {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            describe(codec, mixed(builder(Compression.of(codec).build())));
        }
        describe("gzip level 9", large(builder(Compression.gzip().level(9).build())));
        describe("snappy large", large(builder(Compression.snappy().build())));
        describe("lz4 level 17", large(builder(Compression.lz4().level(17).build())));
        describe("zstd level 19", large(builder(Compression.zstd().level(19).build())));

        describe("idempotent", mixed(from(0, 4000L, (short) 3, 17, false, false)));
        MemoryRecords transactional = mixed(from(0, 4000L, (short) 3, 2147483646, true, false));
        describe("transactional", transactional);
        describe("commit", marker(ControlRecordType.COMMIT));
        describe("abort", marker(ControlRecordType.ABORT));
        describe("log append time", mixed(MemoryRecords.builder(ByteBuffer.allocate(1 << 20), RecordBatch.CURRENT_MAGIC_VALUE,
            Compression.NONE, TimestampType.LOG_APPEND_TIME, 1000L, TIME + 5000)));

        describe("compacted", filtered(transactional, false, true));
        describe("compacted gzip", filtered(mixed(builder(Compression.gzip().build())), false, true));
        describe("delete horizon", filtered(mixed(builder(Compression.NONE)), true, true));
        describe("emptied", filtered(transactional, false, false));
    }

    static MemoryRecordsBuilder builder(Compression compression) {
        return MemoryRecords.builder(ByteBuffer.allocate(1 << 20), RecordBatch.CURRENT_MAGIC_VALUE, compression,
            TimestampType.CREATE_TIME, 1000L, RecordBatch.NO_TIMESTAMP, LEADER_EPOCH);
    }

    static MemoryRecordsBuilder from(
            long offset, long producer, short epoch, int sequence, boolean transactional, boolean control) {
        return MemoryRecords.builder(ByteBuffer.allocate(1 << 20), RecordBatch.CURRENT_MAGIC_VALUE, Compression.NONE,
            TimestampType.CREATE_TIME, offset, RecordBatch.NO_TIMESTAMP, producer, epoch, sequence, transactional,
            control, LEADER_EPOCH);
    }

    /** What a record can be: nulls, nothing, headers of every kind, time going back and far ahead. */
    static MemoryRecords mixed(MemoryRecordsBuilder builder) {
        builder.append(TIME, bytes("key"), bytes("value"));
        builder.append(TIME + 1, null, bytes("without a key"));
        builder.append(TIME + 2, bytes("tombstone"), (byte[]) null);
        builder.append(TIME + 3, null, (byte[]) null);
        builder.append(TIME - 86_400_000, bytes(""), bytes(""));
        builder.append(TIME + 4, bytes("h"), bytes("one header"), headers("trace", "0123456789abcdef"));
        builder.append(TIME + 5, bytes("h"), bytes("many headers"),
            headers("", "", "null", null, "schl\u00fcssel", "wert", "twice", "1", "twice", "2"));
        builder.append(TIME + 10_000_000_000L, bytes("k".repeat(63)), bytes("v".repeat(64)));
        builder.append(TIME + 6, bytes("k".repeat(64)), bytes("v".repeat(300)));
        return builder.build();
    }

    /** More than one block of every codec that has blocks. */
    static MemoryRecords large(MemoryRecordsBuilder builder) {
        for (int number = 0; number < 300; number++) {
            builder.append(TIME + number, bytes("key" + number), bytes(("value " + number + " ").repeat(60)));
        }
        return builder.build();
    }

    static MemoryRecords marker(ControlRecordType type) {
        return MemoryRecords.withEndTransactionMarker(2000L, TIME, LEADER_EPOCH, 4000L, (short) 3,
            new EndTransactionMarker(type, 23));
    }

    /** What compaction makes of a batch: every other record stays, or none. */
    static MemoryRecords filtered(MemoryRecords records, boolean horizon, boolean keepsSome) {
        RecordFilter filter = new RecordFilter(TIME, 1000L) {
            @Override
            protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
                return new BatchRetentionResult(BatchRetention.RETAIN_EMPTY, horizon);
            }

            @Override
            protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
                return keepsSome && (record.offset() - batch.baseOffset()) % 2 == 1 && (horizon || record.hasValue());
            }
        };
        ByteBuffer kept = ByteBuffer.allocate(1 << 20);
        records.filterTo(new TopicPartition("topic", 0), filter, kept, Integer.MAX_VALUE, BufferSupplier.NO_CACHING);
        kept.flip();
        return MemoryRecords.readableRecords(kept);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static Header[] headers(String... namesAndValues) {
        List<Header> headers = new ArrayList<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            String value = namesAndValues[at + 1];
            headers.add(new RecordHeader(namesAndValues[at], value == null ? null : bytes(value)));
        }
        return headers.toArray(new Header[0]);
    }

    /** One line of JSON: the batch as bytes, as its header and as its records. */
    static void describe(String name, MemoryRecords all) {
        MutableRecordBatch batch = all.batches().iterator().next();
        batch.ensureValid();
        ByteBuffer copy = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(copy);
        OptionalLong horizon = batch.deleteHorizonMs();
        StringJoiner header = new StringJoiner(", ", "{", "}");
        header.add("\"base_offset\": " + batch.baseOffset());
        header.add("\"last_offset\": " + batch.lastOffset());
        header.add("\"leader_epoch\": " + batch.partitionLeaderEpoch());
        header.add("\"codec\": \"" + batch.compressionType().name + "\"");
        header.add("\"log_append_time\": " + (batch.timestampType() == TimestampType.LOG_APPEND_TIME));
        header.add("\"transactional\": " + batch.isTransactional());
        header.add("\"control\": " + batch.isControlBatch());
        header.add("\"delete_horizon_ms\": " + (horizon.isPresent() ? horizon.getAsLong() : "null"));
        header.add("\"max_timestamp\": " + batch.maxTimestamp());
        header.add("\"producer_id\": " + batch.producerId());
        header.add("\"producer_epoch\": " + batch.producerEpoch());
        header.add("\"base_sequence\": " + batch.baseSequence());
        header.add("\"record_count\": " + batch.countOrNull());
        StringJoiner records = new StringJoiner(", ", "[", "]");
        for (Record record : batch) {
            record.ensureValid();
            StringJoiner headers = new StringJoiner(", ", "[", "]");
            for (Header each : record.headers()) {
                headers.add("[" + hex(bytes(each.key())) + ", " + hex(each.value()) + "]");
            }
            records.add("[" + record.offset() + ", " + record.timestamp() + ", " + hex(array(record.key())) + ", "
                + hex(array(record.value())) + ", " + headers + "]");
        }
        OUT.println("{\"name\": \"" + name + "\", \"batch\": " + hex(copy.array()) + ", \"header\": " + header
            + ", \"records\": " + records + "}");
    }

    static byte[] array(ByteBuffer buffer) {
        return buffer == null ? null : org.apache.kafka.common.utils.Utils.toArray(buffer);
    }

    /** Bytes in hexadecimal; a long repetition as "<piece>*<times>", to keep the vectors small. */
    static String hex(byte[] bytes) {
        if (bytes == null) {
            return "null";
        }
        for (int piece = 1; piece <= 10 && bytes.length >= 60; piece++) {
            int times = bytes.length / piece;
            byte[] first = java.util.Arrays.copyOf(bytes, piece);
            String text = new String(first, StandardCharsets.ISO_8859_1).repeat(times);
            if (text.equals(new String(bytes, StandardCharsets.ISO_8859_1))) {
                return "\"" + HexFormat.of().formatHex(first) + "*" + times + "\"";
            }
        }
        return "\"" + HexFormat.of().formatHex(bytes) + "\"";
    }
}
