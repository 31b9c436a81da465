import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** Prints the topics with a consumer, for clients before the Java admin client existed. */
public class ListTopics {
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("client.id", arguments[1]);
        String deserializer = "org.apache.kafka.common.serialization.StringDeserializer";
        settings.put("key.deserializer", deserializer);
        settings.put("value.deserializer", deserializer);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            System.out.println(consumer.listTopics());
        }
    }
}
