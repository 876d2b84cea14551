package main

import "fmt"

// Point is a place.
type Point struct {
	X, Y int `json:"x"`
}

func main() {
	p := Point{1, 2}
	fmt.Printf("%+v\n", p)
}
