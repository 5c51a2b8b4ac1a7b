// JDBC with sealed columns: the secret is sent as a parameter, as docs/sealed.md shows, by TLS.
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;

public class Sealed {
    static void open(Connection connection, byte[] secret) throws SQLException {
        try (PreparedStatement open = connection.prepareStatement("SELECT discreet.open_key('customers', ?)")) {
            open.setBytes(1, secret);
            open.execute();
        }
    }

    static void write(Connection connection, String ssn, BigDecimal salary) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO shop.customer (name, ssn, salary) VALUES ('Java', ?, ?)",
                Statement.RETURN_GENERATED_KEYS)) {
            insert.setString(1, ssn);
            insert.setBigDecimal(2, salary);
            insert.executeUpdate();
            insert.getGeneratedKeys().next();
        }
    }

    // more often than the driver waits with a prepared statement of the server
    static String found(Connection connection, String ssn, int times) throws SQLException {
        try (PreparedStatement lookup = connection.prepareStatement("SELECT name, salary FROM shop.customer WHERE ssn = ?")) {
            String value = null;
            for (int n = 0; n < times; n++) {
                lookup.setString(1, ssn);
                ResultSet rows = lookup.executeQuery();
                value = rows.next() ? rows.getString(1) + " " + rows.getBigDecimal(2) : "nothing";
            }
            return value;
        }
    }

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://localhost:" + System.getenv("PGPORT") + "/postgres?user=shop_app";
        byte[] secret = System.getenv("CUSTOMERS_SECRET").getBytes(StandardCharsets.UTF_8);
        try (Connection connection = DriverManager.getConnection(url + "&sslmode=disable")) {
            open(connection, secret);
        } catch (SQLException error) {
            System.out.println("without TLS: " + error.getMessage().replace("\n", " "));
        }
        try (Connection connection = DriverManager.getConnection(url + "&sslmode=verify-full&sslrootcert=" + System.getenv("PGSSLROOTCERT"))) {
            System.out.println("closed: " + found(connection, "123-45-6789", 1));
            open(connection, secret);
            System.out.println("open: " + found(connection, "123-45-6789", 7));
            write(connection, "java-1", new BigDecimal("1234.50"));
            System.out.println("written: " + found(connection, "java-1", 1));
        }
    }
}
