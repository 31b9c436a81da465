import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;

/** Prints cluster id, controller, number of nodes and operations, and topics, with the Java admin client. */
public class DescribeCluster {
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("client.id", arguments[1]);
        settings.put("request.timeout.ms", "15000");
        try (Admin admin = Admin.create(settings)) {
            DescribeClusterOptions options = new DescribeClusterOptions();
            DescribeClusterResult result =
                admin.describeCluster(options.includeAuthorizedOperations(true));
            System.out.println(result.clusterId().get());
            System.out.println(result.controller().get().id());
            System.out.println(result.nodes().get().size());
            System.out.println(result.authorizedOperations().get().size());
            System.out.println(admin.listTopics().names().get());
        }
    }
}
