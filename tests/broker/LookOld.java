import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The same for clients of the time before there was an admin client: only topics can be listed. */
public class LookOld {
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("client.id", arguments[1]);
        String text = "org.apache.kafka.common.serialization.StringDeserializer";
        settings.put("key.deserializer", text);
        settings.put("value.deserializer", text);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            System.out.println(consumer.listTopics());
        }
    }
}
