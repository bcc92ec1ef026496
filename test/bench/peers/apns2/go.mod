module herald.dev/bench/apns2-peer

go 1.26.0

require (
	github.com/sideshow/apns2 v0.25.0
	golang.org/x/net v0.60.0
)

require (
	github.com/golang-jwt/jwt/v4 v4.4.1 // indirect
	golang.org/x/text v0.42.0 // indirect
)
