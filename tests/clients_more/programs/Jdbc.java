// JDBC: metadata, prepared statements, fetchSize, setMaxRows.
import java.sql.*;
import java.util.*;

public class Jdbc {
    interface Call { Object run() throws Exception; }

    static Connection connection;

    static List<String> listed(ResultSet rows, int column) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) found.add(rows.getString(column));
        return found;
    }

    static Object prepared(String query, int times, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            Object answer = null;
            for (int n = 0; n < times; n++) {
                for (int place = 0; place < values.length; place++) statement.setObject(place + 1, values[place]);
                answer = listed(statement.executeQuery(), 1);
            }
            return answer;
        }
    }

    static Object inParts(String query) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(1);
            return listed(statement.executeQuery(query), 1);
        } finally {
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    static Object limited(String query, int rows) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setMaxRows(rows);
            return listed(statement.executeQuery(query), 1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/store";
        connection = DriverManager.getConnection(url, System.getenv("PGUSER"), "");
        DatabaseMetaData about = connection.getMetaData();
        String groups = "SELECT city, count(*) FROM store.customer GROUP BY city";
        Map<String, Call> calls = new LinkedHashMap<>();
        switch (arguments[0]) {
            case "look" -> {
                calls.put("tables", () -> listed(about.getTables(null, null, null, new String[] {"TABLE"}), 3));
                calls.put("columns", () -> listed(about.getColumns(null, "store", "purchase", null), 4));
                calls.put("keys", () -> listed(about.getImportedKeys(null, "store", "purchase"), 3));
                calls.put("no rows", () -> prepared("SELECT * FROM store.customer WHERE 1 = 0", 1));
                calls.put("described", () -> connection.prepareStatement(groups).getMetaData().getColumnTypeName(2));
            }
            case "ask" -> {
                calls.put("groups", () -> prepared(groups, 1));
                calls.put("seven times", () -> prepared("SELECT count(*) FROM store.customer WHERE rating > ? AND city = ?", 7, 2, "Bath"));
                calls.put("moments", () -> prepared("SELECT date_trunc('month', bought), count(*) FROM store.purchase WHERE bought >= ? GROUP BY 1",
                    1, java.time.OffsetDateTime.parse("2026-03-01T00:00:00Z")));
                calls.put("fetchSize", () -> inParts(groups));
                calls.put("setMaxRows", () -> limited(groups, 2));
                calls.put("panel", () -> prepared("SELECT count(*) FROM (SELECT x.* FROM store.customer x) dbvrcnt", 1));
            }
            default -> calls.put("SELECT x.*", () -> limited("SELECT x.* FROM store.customer x", 200));
        }
        StringBuilder told = new StringBuilder();
        for (Map.Entry<String, Call> call : calls.entrySet()) {
            String value;
            try {
                value = String.valueOf(call.getValue().run());
            } catch (SQLException error) {
                if (!arguments[0].equals("rows")) throw error;
                value = error.getMessage();
            }
            told.append(told.isEmpty() ? "" : ", ").append(quoted(call.getKey())).append(": ").append(quoted(value));
        }
        System.out.println("\n{" + told + "}");
    }

    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ") + '"';
    }
}
