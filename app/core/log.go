package core

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// maxLog is the size at which the log file is moved aside; one older file is
// kept, so the logs never take more than twice this.
const maxLog = 4 << 20

// logFile is a log that moves itself aside when it is full. It is safe for
// concurrent use.
type logFile struct {
	path string

	mu   sync.Mutex // guards file and size
	file *os.File
	size int64
}

// openLog returns a logger that writes JSON lines to logs/conclave.log below
// data, and what closes it. The file is made at the first line, so that a command
// that says nothing touches no disk.
func openLog(data string) (*slog.Logger, io.Closer) {
	f := &logFile{path: filepath.Join(data, "logs", "conclave.log")}
	level := slog.LevelInfo
	if os.Getenv("CONCLAVE_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: level})), f
}

// Write appends one line. A log that cannot be written is no reason to stop: the
// line is dropped.
func (f *logFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil && !f.open() {
		return len(line), nil
	}
	if f.size+int64(len(line)) > maxLog {
		_ = f.file.Close()
		_ = os.Rename(f.path, f.path+".1")
		if !f.open() {
			return len(line), nil
		}
	}
	n, _ := f.file.Write(line)
	f.size += int64(n)
	return len(line), nil
}

func (f *logFile) open() bool {
	f.file = nil
	if os.MkdirAll(filepath.Dir(f.path), 0o700) != nil {
		return false
	}
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return false
	}
	f.file, f.size = file, info.Size()
	return true
}

// Close closes the file.
func (f *logFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
