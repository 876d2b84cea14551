#include <stdio.h>

/* Prints a greeting. */
static int greet(const char *name) {
	return printf("hello, %s\n", name);
}

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++)
		greet(argv[i]);
	return 0;
}
