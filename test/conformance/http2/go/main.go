// An HTTP/2 server of golang.org/x/net over TLS, for the conformance suite: prints its port, and ends with its input.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"golang.org/x/net/http2"
)

func main() {
	cert := flag.String("cert", "", "file of the certificate, PEM")
	key := flag.String("key", "", "file of its key, PEM")
	streams := flag.Uint("streams", 100, "streams at once")
	table := flag.Uint("table", 4096, "bytes of the table for the client's headers")
	flag.Parse()
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := &http2.Server{MaxConcurrentStreams: uint32(*streams), MaxDecoderHeaderTableSize: uint32(*table)}
	options := &http2.ServeConnOpts{
		BaseConfig: &http.Server{ErrorLog: log.New(io.Discard, "", 0)},
		Handler:    http.HandlerFunc(answer),
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			if err := conn.(*tls.Conn).Handshake(); err == nil {
				server.ServeConn(conn, options)
			}
		}()
	}
}

func answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	header := w.Header()
	header.Set("x-asked", r.Method+" "+r.Host+" "+r.URL.String())
	header.Set("x-sent", r.Header.Get("x-sent"))
	switch r.URL.Path {
	case "/hints":
		header.Set("link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		header.Set("trailer", "x-after")
	case "/reset":
		panic(http.ErrAbortHandler)
	case "/goaway":
		header.Set("connection", "close") // to this server: GOAWAY, in two steps
	}
	_, _ = w.Write(body)
	if r.URL.Path == "/hints" {
		header.Set("x-after", "1")
	}
}
