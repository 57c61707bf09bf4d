// KafkaJS, doing what standard input asks for, a line of JSON each; talking.py has the other side.
// It has no consumers outside of groups: who is to read from a place gets a group of its own.

const readline = require("node:readline");
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require("kafkajs");
const snappy = require("kafkajs-snappy");
const lz4 = require("lz4js");
const zstd = require("@bokuweb/zstd-wasm");

const LARGE = 20 * 1024 * 1024;
const WITHIN_MS = 30_000;

CompressionCodecs[CompressionTypes.Snappy] = snappy;
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async (encoder) => Buffer.from(lz4.compress(encoder.buffer)),
  decompress: async (data) => Buffer.from(lz4.decompress(data)),
});
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async (encoder) => Buffer.from(zstd.compress(encoder.buffer)),
  decompress: async (data) => Buffer.from(zstd.decompress(data, { defaultHeapSize: LARGE })),
});
const CODECS = { none: "None", gzip: "GZIP", snappy: "Snappy", lz4: "LZ4", zstd: "ZSTD" };
const TOPIC = 2; // among the kinds of resources that have settings
const TOPIC_ALREADY_EXISTS = 36;

const kafka = new Kafka({
  brokers: [process.argv[2]],
  logLevel: logLevel.NOTHING,
  retry: { retries: 3, initialRetryTime: 50 },
});
const admin = kafka.admin();
let consumer, unread, next, assigned;
let groups = 0;

class Refused extends Error {
  constructor(code) {
    super();
    this.code = code;
  }
}

const actions = {
  async produce({ topic, records, codec, acks, idempotent }) {
    const producer = kafka.producer({ idempotent, maxInFlightRequests: 1 });
    await producer.connect();
    try {
      await producer.send({
        topic,
        acks: acks === "all" ? -1 : Number(acks),
        compression: CompressionTypes[CODECS[codec]],
        messages: records.map(spoken),
      });
    } finally {
      await producer.disconnect();
    }
  },

  async assign({ topics, position }) {
    const offsets = {};
    for (const topic of position.kind === "earliest" ? [] : topics)
      offsets[topic] = position.kind === "offset" ? position.number : await offset(topic, position);
    await join(`alone-${process.pid}-${groups++}`, topics, () => {
      for (const topic in offsets) consumer.seek({ topic, partition: 0, offset: String(offsets[topic]) });
    });
    await until(() => assigned === topics.length);
  },

  async read({ count }) {
    await until(() => unread.length >= count);
    const some = unread.splice(0, count);
    for (const { topic, offset } of some) next[topic] = offset + 1;
    return some;
  },

  join: ({ group, topic }) => join(group, [topic], () => {}),

  await_partitions: ({ count }) => until(() => assigned === count),

  commit: () =>
    consumer.commitOffsets(
      Object.entries(next).map(([topic, offset]) => ({ topic, partition: 0, offset: String(offset) })),
    ),

  leave,

  async create_topics({ names, partitions, settings }) {
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    const topics = names.map((topic) => ({ topic, numPartitions: partitions, configEntries }));
    const options = { topics, waitForLeaders: false, timeout: WITHIN_MS };
    if (!(await admin.createTopics(options))) throw new Refused(TOPIC_ALREADY_EXISTS);
  },

  async topics() {
    const { topics } = await admin.fetchTopicMetadata();
    return Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length]));
  },

  delete_topics: ({ names }) => admin.deleteTopics({ topics: names, timeout: WITHIN_MS }),

  add_partitions: ({ topic, total }) =>
    admin.createPartitions({ topicPartitions: [{ topic, count: total }] }),

  async settings({ topic }) {
    const { resources } = await admin.describeConfigs({ resources: [{ type: TOPIC, name: topic }] });
    return Object.fromEntries(resources[0].configEntries.map((each) => [each.configName, each.configValue]));
  },

  change_settings({ topic, settings }) {
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    return admin.alterConfigs({ resources: [{ type: TOPIC, name: topic, configEntries }] });
  },

  offset: ({ topic, position }) => offset(topic, position),

  delete_records: ({ topic, before }) =>
    admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(before) }] }),
};

// -- consuming ------------------------------------------------------------------------------------------------

async function join(groupId, topics, settle) {
  await leave();
  consumer = kafka.consumer({
    groupId,
    heartbeatInterval: 100,
    maxWaitTimeInMs: 20,
    maxBytesPerPartition: LARGE,
    maxBytes: 2 * LARGE,
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    assigned = Object.values(payload.memberAssignment).flat().length;
  });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({ autoCommit: false, eachMessage: async (each) => void unread.push(found(each)) });
  settle();
}

async function leave() {
  if (consumer) await consumer.disconnect();
  consumer = undefined;
  unread = [];
  next = {};
  assigned = 0;
}

async function offset(topic, { kind, number }) {
  const [{ low, high }] = await admin.fetchTopicOffsets(topic);
  if (kind !== "time") return Number(kind === "earliest" ? low : high);
  const [{ offset }] = await admin.fetchTopicOffsetsByTimestamp(topic, number);
  return offset === high ? -1 : Number(offset); // where there is none, it says the end
}

async function until(holds) {
  const deadline = Date.now() + WITHIN_MS;
  while (!holds() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 2));
}

// -- records --------------------------------------------------------------------------------------------------

function spoken({ key, value, timestamp, headers }) {
  const named = {};
  for (const [name, value] of headers) (named[name] ??= []).push(value);
  const stamp = timestamp === null ? undefined : String(timestamp);
  return { partition: 0, key, value, timestamp: stamp, headers: named };
}

function found({ topic, message: { key, value, offset, timestamp, headers } }) {
  const listed = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((each) => [name, text(each)]),
  );
  const record = { key: text(key), value: text(value), timestamp: Number(timestamp), headers: listed };
  return { topic, offset: Number(offset), record };
}

const text = (data) => (data === null || data === undefined ? null : data.toString());

// -------------------------------------------------------------------------------------------------------------

const code = (error) =>
  error && (typeof error.code === "number" ? error.code : code(error.cause ?? error.errors?.[0]));

async function main() {
  await zstd.init();
  await admin.connect();
  await leave();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { do: what, ...asked } = JSON.parse(line);
    let answer;
    try {
      answer = { answer: (await actions[what](asked)) ?? null };
    } catch (error) {
      if (code(error) === undefined) throw error;
      answer = { refused: code(error), words: error.message };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}

main();
