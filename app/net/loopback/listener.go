package loopback

import (
	"net"
	"sync"
)

// portListener accepts connections, twice maxOpen at a time, and looks at each who made it.
type portListener struct {
	net.Listener
	slots chan struct{}
	done  chan struct{} // closed with the listener
	close sync.Once
}

func newListener(l net.Listener) *portListener {
	return &portListener{Listener: l, slots: make(chan struct{}, 2*maxOpen), done: make(chan struct{})}
}

// accepted is a connection, and the program that made it, as of the moment it was accepted:
// whoever waits until then with closing it is found.
type accepted struct {
	*net.TCPConn
	peer    Peer
	release func()
}

// Accept implements net.Listener. It waits for a connection to end while too many are open.
func (l *portListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &accepted{TCPConn: c.(*net.TCPConn), peer: PeerOf(c), release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close implements net.Listener.
func (l *portListener) Close() error {
	l.close.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// Close implements net.Conn.
func (c *accepted) Close() error {
	err := c.TCPConn.Close()
	c.release()
	return err
}
