package host

// renew lets the process finish its calls and end; the next call starts another.
func (r *runner) renew() {
	r.mu.Lock()
	s := r.live
	r.live = nil
	end := false
	if s != nil {
		s.spent = true
		end = s.uses == 0
	}
	r.mu.Unlock()
	if end {
		s.close()
	}
}
