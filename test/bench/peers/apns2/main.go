// Sends pushes with github.com/sideshow/apns2, for the bench: settings come as JSON on its input, what each push cost
// goes to its output.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"
	"golang.org/x/net/http2"
)

type settings struct {
	URL, CA, Key, KeyID, TeamID, Topic string
	// Payload has PUSH_ID where each push has its own.
	Payload                  string
	Pushes, WarmUp, UnderWay int
}

func main() {
	var given settings
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		log.Fatal(err)
	}
	client := clientFor(given)
	push(client, given, int64(given.WarmUp+given.Pushes+1)) // alone: until its first answer APNs admits one at a time
	send(client, given, 0, given.WarmUp)
	before, started := cpu(), time.Now()
	send(client, given, given.WarmUp, given.Pushes)
	took := time.Since(started)
	each := float64((cpu() - before).Microseconds()) / float64(given.Pushes)
	fmt.Printf(`{"cpuUsPerPush":%f,"perSecond":%f}`, each, float64(given.Pushes)/took.Seconds())
}

func clientFor(given settings) *apns2.Client {
	key, err := token.AuthKeyFromBytes([]byte(given.Key))
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(given.CA))
	client := apns2.NewTokenClient(&token.Token{AuthKey: key, KeyID: given.KeyID, TeamID: given.TeamID})
	client.Host = given.URL
	client.HTTPClient.Transport.(*http2.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	return client
}

func send(client *apns2.Client, given settings, first, count int) {
	next := atomic.Int64{}
	var workers sync.WaitGroup
	for range given.UnderWay {
		workers.Go(func() {
			for n := next.Add(1); n <= int64(count); n = next.Add(1) {
				push(client, given, int64(first)+n)
			}
		})
	}
	workers.Wait()
}

func push(client *apns2.Client, given settings, n int64) {
	id := fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)
	response, err := client.Push(&apns2.Notification{
		ApnsID:      id,
		DeviceToken: fmt.Sprintf("%064x", n),
		Topic:       given.Topic,
		PushType:    apns2.PushTypeAlert,
		Priority:    apns2.PriorityHigh,
		Expiration:  time.Now().Add(time.Hour),
		Payload:     []byte(strings.Replace(given.Payload, "PUSH_ID", id, 1)),
	})
	if err != nil {
		log.Fatal(err)
	}
	if !response.Sent() {
		log.Fatalf("a push was refused: %d %s", response.StatusCode, response.Reason)
	}
}

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
