package worker

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrStatus says that the server did not answer with 200.
var ErrStatus = errors.New("unexpected status")

var client = http.Client{Timeout: 10 * time.Second}

// Fetch reads a page.
func Fetch(url string) ([]byte, error) {
	resp, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, ErrStatus
	}
	return io.ReadAll(resp.Body)
}
