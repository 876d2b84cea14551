package demo;

/** A greeter. */
public final class Greeter {
    private final String name;

    Greeter(String name) { this.name = name; }

    @Override
    public String toString() { return "Hello, " + name; }
}
