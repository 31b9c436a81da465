import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;

/** What the admin client of Java sees: cluster, controller, number of nodes and operations, topics. */
public class Look {
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("client.id", arguments[1]);
        settings.put("request.timeout.ms", "15000");
        try (Admin admin = Admin.create(settings)) {
            DescribeClusterOptions options = new DescribeClusterOptions();
            DescribeClusterResult seen =
                admin.describeCluster(options.includeAuthorizedOperations(true));
            System.out.println(seen.clusterId().get());
            System.out.println(seen.controller().get().id());
            System.out.println(seen.nodes().get().size());
            System.out.println(seen.authorizedOperations().get().size());
            System.out.println(admin.listTopics().names().get());
        }
    }
}
