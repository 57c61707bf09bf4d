// franz-go, doing what standard input asks for, a line of JSON each; talking.py has the other side.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	large  = 20 << 20
	within = 30 * time.Second
)

type record struct {
	Key       *string     `json:"key"`
	Value     *string     `json:"value"`
	Timestamp *int64      `json:"timestamp"`
	Headers   [][]*string `json:"headers"`
}

type position struct {
	Kind   string `json:"kind"`
	Number int64  `json:"number"`
}

// What may be asked, with the arguments of all that there is.
type asked struct {
	Do         string             `json:"do"`
	Topic      string             `json:"topic"`
	Topics     []string           `json:"topics"`
	Names      []string           `json:"names"`
	Group      string             `json:"group"`
	Records    []record           `json:"records"`
	Codec      string             `json:"codec"`
	Acks       string             `json:"acks"`
	Idempotent bool               `json:"idempotent"`
	Position   position           `json:"position"`
	Partitions int32              `json:"partitions"`
	Settings   map[string]*string `json:"settings"`
	Count      int                `json:"count"`
	Total      int                `json:"total"`
	Before     int64              `json:"before"`
}

type found struct {
	Topic  string `json:"topic"`
	Offset int64  `json:"offset"`
	Record record `json:"record"`
}

type client struct {
	bootstrap string
	asking    *kgo.Client // for what is not about its own records
	admin     *kadm.Client
	consumer  *kgo.Client
	unread    []*kgo.Record
	read      []*kgo.Record // and not committed
	assigned  chan int      // how many partitions the group has given, each time it does
}

func main() {
	bootstrap := os.Args[1]
	asking := opened(kgo.SeedBrokers(bootstrap))
	c := &client{bootstrap: bootstrap, asking: asking, admin: kadm.NewClient(asking)}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 2*large)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var question asked
		check(json.Unmarshal(in.Bytes(), &question))
		ctx, cancel := context.WithTimeout(context.Background(), within)
		answer, err := c.carryOut(ctx, question)
		cancel()
		var refusal *kerr.Error
		switch {
		case errors.As(err, &refusal):
			check(out.Encode(map[string]any{"refused": refusal.Code, "words": err.Error()}))
		case err != nil:
			panic(err)
		default:
			check(out.Encode(map[string]any{"answer": answer}))
		}
	}
}

func (c *client) carryOut(ctx context.Context, a asked) (any, error) {
	switch a.Do {
	case "produce":
		return nil, c.produce(ctx, a)
	case "assign":
		return nil, c.assign(ctx, a.Topics, a.Position)
	case "read":
		return c.readSome(ctx, a.Count)
	case "join":
		return nil, c.join(a.Group, a.Topic)
	case "await_partitions":
		return nil, c.awaitPartitions(ctx, a.Count)
	case "commit":
		return nil, c.consumer.CommitRecords(ctx, c.read...)
	case "leave":
		return nil, c.leave()
	case "create_topics":
		answers, err := c.admin.CreateTopics(ctx, a.Partitions, 1, a.Settings, a.Names...)
		return nil, errors.Join(err, answers.Error())
	case "topics":
		return c.topics(ctx)
	case "delete_topics":
		answers, err := c.admin.DeleteTopics(ctx, a.Names...)
		return nil, errors.Join(err, answers.Error())
	case "add_partitions":
		answers, err := c.admin.UpdatePartitions(ctx, a.Total, a.Topic)
		return nil, errors.Join(err, answers.Error())
	case "settings":
		return c.settings(ctx, a.Topic)
	case "change_settings":
		return nil, c.changeSettings(ctx, a.Topic, a.Settings)
	case "offset":
		return c.offset(ctx, a.Topic, a.Position)
	case "delete_records":
		before := kadm.Offsets{}
		before.AddOffset(a.Topic, 0, a.Before, -1)
		answers, err := c.admin.DeleteRecords(ctx, before)
		return nil, errors.Join(err, answers.Error())
	case "log_sizes":
		return c.logSizes(ctx)
	}
	return nil, fmt.Errorf("cannot %s", a.Do)
}

// -- producing and consuming ---------------------------------------------------------------------------------

func (c *client) produce(ctx context.Context, a asked) error {
	codec := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}[a.Codec]
	acks := map[string]kgo.Acks{"0": kgo.NoAck(), "1": kgo.LeaderAck(), "all": kgo.AllISRAcks()}[a.Acks]
	options := []kgo.Opt{
		kgo.SeedBrokers(c.bootstrap), kgo.ProducerBatchCompression(codec), kgo.RequiredAcks(acks),
		kgo.ProducerBatchMaxBytes(large), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(5 * time.Millisecond), kgo.AllowAutoTopicCreation(),
	}
	if !a.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	producer := opened(options...)
	defer producer.Close()
	var records []*kgo.Record
	for _, each := range a.Records {
		record := &kgo.Record{Topic: a.Topic, Key: bytes(each.Key), Value: bytes(each.Value)}
		if each.Timestamp != nil {
			record.Timestamp = time.UnixMilli(*each.Timestamp)
		}
		for _, header := range each.Headers {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: *header[0], Value: bytes(header[1])})
		}
		records = append(records, record)
	}
	return producer.ProduceSync(ctx, records...).FirstErr()
}

func (c *client) assign(ctx context.Context, topics []string, from position) error {
	c.leave()
	partitions := map[string]map[int32]kgo.Offset{}
	for _, topic := range topics {
		offset := kgo.NewOffset()
		switch from.Kind {
		case "earliest":
			offset = offset.AtStart()
		case "latest": // asked for here, so that the place is settled
			end, err := c.offset(ctx, topic, from)
			if err != nil {
				return err
			}
			offset = offset.At(end)
		case "offset":
			offset = offset.At(from.Number)
		case "time":
			offset = offset.AfterMilli(from.Number)
		}
		partitions[topic] = map[int32]kgo.Offset{0: offset}
	}
	c.consumer = opened(
		kgo.SeedBrokers(c.bootstrap), kgo.ConsumePartitions(partitions), kgo.FetchMaxPartitionBytes(large),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(20*time.Millisecond),
	)
	return nil
}

func (c *client) readSome(ctx context.Context, count int) ([]found, error) {
	for len(c.unread) < count && ctx.Err() == nil {
		fetches := c.consumer.PollRecords(ctx, count-len(c.unread))
		if err := fetches.Err0(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		c.unread = append(c.unread, fetches.Records()...)
	}
	count = min(count, len(c.unread))
	some := []found{}
	for _, each := range c.unread[:count] {
		when := each.Timestamp.UnixMilli()
		told := record{Key: text(each.Key), Value: text(each.Value), Timestamp: &when, Headers: [][]*string{}}
		for _, header := range each.Headers {
			told.Headers = append(told.Headers, []*string{&header.Key, text(header.Value)})
		}
		some = append(some, found{each.Topic, each.Offset, told})
	}
	c.read = append(c.read, c.unread[:count]...)
	c.unread = c.unread[count:]
	return some, nil
}

// -- groups --------------------------------------------------------------------------------------------------

func (c *client) join(group, topic string) error {
	c.leave()
	assigned := make(chan int, 100)
	total := 0
	count := func(change int) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			total += change * len(partitions[topic])
			assigned <- total
		}
	}
	c.assigned = assigned
	c.consumer = opened(
		kgo.SeedBrokers(c.bootstrap), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(100*time.Millisecond), kgo.FetchMaxWait(20*time.Millisecond),
		kgo.OnPartitionsAssigned(count(+1)), kgo.OnPartitionsRevoked(count(-1)), kgo.OnPartitionsLost(count(-1)),
	)
	return nil
}

func (c *client) awaitPartitions(ctx context.Context, count int) error {
	for {
		select {
		case total := <-c.assigned:
			if total == count {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *client) leave() error {
	if c.consumer != nil {
		c.consumer.Close()
	}
	c.consumer, c.unread, c.read = nil, nil, nil
	return nil
}

// -- administration ------------------------------------------------------------------------------------------

func (c *client) topics(ctx context.Context) (map[string]int, error) {
	all := kmsg.NewPtrMetadataRequest() // kadm remembers what it has heard lately, and does not ask again
	answer, err := all.RequestWith(ctx, c.asking)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, each := range answer.Topics {
		counts[*each.Topic] = len(each.Partitions)
	}
	return counts, nil
}

func (c *client) settings(ctx context.Context, topic string) (map[string]*string, error) {
	answers, err := c.admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, err
	}
	settings := map[string]*string{}
	for _, each := range answers[0].Configs {
		settings[each.Key] = each.Value
	}
	return settings, answers[0].Err
}

func (c *client) changeSettings(ctx context.Context, topic string, settings map[string]*string) error {
	var changes []kadm.AlterConfig
	for name, value := range settings {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: value})
	}
	answers, err := c.admin.AlterTopicConfigs(ctx, changes, topic)
	if err != nil {
		return err
	}
	return answers[0].Err
}

func (c *client) offset(ctx context.Context, topic string, at position) (int64, error) {
	var answers kadm.ListedOffsets
	var err error
	switch at.Kind {
	case "earliest":
		answers, err = c.admin.ListStartOffsets(ctx, topic)
	case "latest":
		answers, err = c.admin.ListEndOffsets(ctx, topic)
	default:
		answers, err = c.admin.ListOffsetsAfterMilli(ctx, at.Number, topic)
	}
	answer, _ := answers.Lookup(topic, 0)
	if at.Kind == "time" && answer.Timestamp == -1 {
		return -1, err // where there is none, it says the end
	}
	return answer.Offset, errors.Join(err, answer.Err)
}

func (c *client) logSizes(ctx context.Context) (map[string]int64, error) {
	brokers, err := c.admin.DescribeAllLogDirs(ctx, nil)
	sizes := map[string]int64{}
	brokers.Each(func(directory kadm.DescribedLogDir) {
		directory.Topics.Each(func(partition kadm.DescribedLogDirPartition) {
			if partition.Partition == 0 {
				sizes[partition.Topic] = partition.Size
			}
		})
	})
	return sizes, err
}

// ------------------------------------------------------------------------------------------------------------

func opened(options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(options...)
	check(err)
	return client
}

func bytes(text *string) []byte {
	if text == nil {
		return nil
	}
	return []byte(*text)
}

func text(data []byte) *string {
	if data == nil {
		return nil
	}
	text := string(data)
	return &text
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
