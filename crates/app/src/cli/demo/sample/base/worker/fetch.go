package worker

import "errors"

// ErrStatus says that the server did not answer with 200.
var ErrStatus = errors.New("unexpected status")
