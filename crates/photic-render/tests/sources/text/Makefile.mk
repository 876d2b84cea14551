CC := cc
OBJS = main.o util.o

all: app # default

app: $(OBJS)
	$(CC) -o $@ $^

.PHONY: clean
clean:
	rm -f app $(OBJS)
