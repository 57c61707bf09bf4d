/*
 * Golden bytes from Kafka's own message classes: fills each class with values that are not its defaults, writes
 * it in every version it has, and prints one line of JSON for each: message, version, variant, bytes, value.
 *
 * java -cp <jars> Vectors.java <output.jsonl.gz> <how a jar's name begins>...
 *
 * Which fields a version has is asked of the class's own schema, which may hold null is found out by trying, and
 * the value in the line comes from Kafka's JSON converters: nothing here knows any message.
 */

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;

public class Vectors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int ELEMENTS = 2;

    public static void main(String[] arguments) throws Exception {
        List<String> prefixes = Arrays.asList(arguments).subList(1, arguments.length);
        int lines = 0;
        try (Writer out = new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(Path.of(arguments[0]))), StandardCharsets.UTF_8)) {
            for (Class<?> kind : messages(prefixes).values()) {
                Message blank = (Message) kind.getDeclaredConstructor().newInstance();
                for (short v = blank.lowestSupportedVersion(); v <= blank.highestSupportedVersion(); v++) {
                    for (Map.Entry<String, Message> each : new Filler(kind, v).variants().entrySet()) {
                        out.write(line(kind, v, each.getKey(), each.getValue()) + "\n");
                        lines++;
                    }
                }
            }
        }
        System.out.println(lines + " vectors in " + arguments[0]);
    }

    /** Every class with a JSON converter beside it, by its short name. */
    private static Map<String, Class<?>> messages(List<String> prefixes) throws Exception {
        Map<String, Class<?>> found = new TreeMap<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            String name = new File(path).getName();
            if (prefixes.stream().noneMatch(name::startsWith)) {
                continue;
            }
            try (JarFile jar = new JarFile(path)) {
                for (String entry : jar.stream().map(each -> each.getName()).sorted().toList()) {
                    if (entry.endsWith("JsonConverter.class") && !entry.contains("$")) {
                        String message = entry.replace("JsonConverter.class", "").replace('/', '.');
                        Class<?> kind = Class.forName(message);
                        found.put(kind.getSimpleName(), kind);
                    }
                }
            }
        }
        return found;
    }

    private static String line(Class<?> kind, short version, String variant, Message message) throws Exception {
        Class<?> converter = Class.forName(kind.getName() + "JsonConverter");
        // The third argument: of records say only how many bytes they are.
        JsonNode value = (JsonNode) converter.getMethod("write", kind, short.class, boolean.class)
            .invoke(null, message, version, false);
        ObjectNode line = JSON.createObjectNode();
        line.put("message", kind.getSimpleName()).put("version", version).put("variant", variant);
        line.put("bytes", HexFormat.of().formatHex(written(message, version))).set("value", value);
        return JSON.writeValueAsString(line);
    }

    private static byte[] written(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.array();
    }

    /** Makes one message class's values for one version. */
    private static final class Filler {
        private final Class<?> kind;
        private final short version;
        private int count = 0;

        Filler(Class<?> kind, short version) {
            this.kind = kind;
            this.version = version;
        }

        /** Those that differ: all defaults, filled, null in every plain field that may be, null in every field. */
        Map<String, Message> variants() throws Exception {
            Map<String, Message> made = new LinkedHashMap<>();
            made.put("defaults", (Message) kind.getDeclaredConstructor().newInstance());
            made.put("filled", filled());
            Message leaves = filled();
            if (nulled(leaves, leaves, false)) {
                made.put("nulls", leaves);
            }
            Message all = filled();
            nulled(all, all, false);
            if (nulled(all, all, true)) {
                made.put("null structs", all);
            }
            return made;
        }

        private Message filled() throws Exception {
            count = 0;
            Schema[] schemas = (Schema[]) kind.getField("SCHEMAS").get(null);
            return (Message) struct(kind, schemas[version]);
        }

        private Object struct(Class<?> type, Schema schema) throws Exception {
            Object made = type.getDeclaredConstructor().newInstance();
            for (BoundField field : schema.fields()) {
                if (field.def.type instanceof TaggedFields tagged) {
                    Map<?, ?> byTag = (Map<?, ?>) fieldOf(TaggedFields.class, "fields").get(tagged);
                    for (Object each : byTag.values()) {
                        var def = (org.apache.kafka.common.protocol.types.Field) each;
                        fill(made, def.name, def.type);
                    }
                } else {
                    fill(made, field.def.name, field.def.type);
                }
            }
            return made;
        }

        private void fill(Object owner, String name, Object wire) throws Exception {
            Field field = fieldOf(owner.getClass(), name);
            field.set(owner, value(field.getGenericType(), wire, name, field.get(owner)));
        }

        /** A value that is not the default. `wire` is the schema's type, which alone knows what is unsigned. */
        private Object value(Type type, Object wire, String name, Object unless) throws Exception {
            int n = ++count;
            if (type == boolean.class) {
                return !(Boolean) unless;
            } else if (type == byte.class || type == Byte.class) {
                return (byte) (20 + n % 100);
            } else if (type == short.class || type == Short.class) {
                return (short) (0x1200 + n);
            } else if (type == int.class || type == Integer.class) {
                return wire.toString().equals("UINT16") ? 0xF000 + n : 0x12345600 + n;
            } else if (type == long.class || type == Long.class) {
                return 0x123456789ABC0000L + n;
            } else if (type == double.class) {
                return n + 0.25;
            } else if (type == String.class) {
                return name + "-\u03a9-" + n;
            } else if (type == Uuid.class) {
                return new Uuid(0x1122334455667788L, n);
            } else if (type == byte[].class) {
                return bytes(n);
            } else if (type == ByteBuffer.class) {
                return ByteBuffer.wrap(bytes(n));
            } else if (type instanceof Class<?> plain && plain.getSimpleName().equals("BaseRecords")) {
                // Its package is another one since 4.x.
                Class<?> records = Class.forName(plain.getPackageName() + ".MemoryRecords");
                return records.getMethod("readableRecords", ByteBuffer.class).invoke(null, ByteBuffer.wrap(bytes(n)));
            } else if (type instanceof ParameterizedType list) {
                return elements(new ArrayList<>(), list, wire, name);
            } else if (Collection.class.isAssignableFrom((Class<?>) type)) {
                Class<?> set = (Class<?>) type;
                Collection<Object> empty = cast(set.getDeclaredConstructor().newInstance());
                return elements(empty, (ParameterizedType) set.getGenericSuperclass(), wire, name);
            }
            return struct((Class<?>) type, (Schema) wire);
        }

        private Collection<Object> elements(
                Collection<Object> into, ParameterizedType list, Object wire, String name) throws Exception {
            Object item = ((org.apache.kafka.common.protocol.types.Type) wire).arrayElementType().orElseThrow();
            for (int i = 0; i < ELEMENTS; i++) {
                into.add(value(list.getActualTypeArguments()[0], item, name, null));
            }
            return into;
        }

        /** As many bytes as `n`, counting up: a test can make them again knowing their number alone. */
        private static byte[] bytes(int n) {
            byte[] made = new byte[n];
            for (int i = 0; i < n; i++) {
                made[i] = (byte) i;
            }
            return made;
        }

        /** Set to null whatever may be, innermost first; whether there was any. */
        private boolean nulled(Message whole, Object struct, boolean structs) throws Exception {
            boolean any = false;
            for (Field field : struct.getClass().getDeclaredFields()) {
                field.setAccessible(true);
                boolean fixed = Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive();
                if (fixed || field.getType() == Uuid.class || isOurs(field)) {
                    continue;
                }
                Object value = field.get(struct);
                if (value instanceof Collection<?> list) {
                    for (Object each : list) {
                        any |= each instanceof Message && nulled(whole, each, structs);
                    }
                } else if (value instanceof Message) {
                    any |= nulled(whole, value, structs);
                }
                if (value != null && structs == (value instanceof Collection || value instanceof Message)) {
                    field.set(struct, null);
                    if (writable(whole)) {
                        any = true;
                    } else {
                        field.set(struct, value);
                    }
                }
            }
            return any;
        }

        private boolean writable(Message whole) throws Exception {
            try {
                line(kind, version, "", whole);
                return true;
            } catch (NullPointerException refused) {
                return false;
            } catch (InvocationTargetException refused) {
                return false;
            }
        }

        /** Not a field of the message, but the class's own. */
        private static boolean isOurs(Field field) {
            return field.getName().startsWith("_");
        }

        private static Field fieldOf(Class<?> type, String name) throws IOException {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equalsIgnoreCase(name.replace("_", ""))) {
                    field.setAccessible(true);
                    return field;
                }
            }
            throw new IOException(type + " has no field for " + name);
        }

        @SuppressWarnings("unchecked")
        private static Collection<Object> cast(Object collection) {
            return (Collection<Object>) collection;
        }
    }
}
