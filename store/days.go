package store

import (
	"context"
	"strings"
	"time"

	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// recentDays is how many days have a heading of their own.
const recentDays = 7

// Days counts the conversations that List takes with o, by the day or the month
// of their last change, in List's order. It decodes none of them.
func (s *Chats) Days(ctx context.Context, o chat.ListOptions) ([]chat.Day, error) {
	now := s.now().Local()
	recent := time.Date(now.Year(), now.Month(), now.Day()-recentDays+1, 0, 0, 0, 0, now.Location())
	words := strings.Fields(strings.ToLower(o.Query))
	days := []chat.Day{}
	err := s.view(ctx, "store.days", func(tx *bbolt.Tx) error {
		cursor := bucket(tx, bucketByUpdated).Cursor()
		for k, v := cursor.Last(); k != nil; k, v = cursor.Prev() {
			if !listed(v, o, words) {
				continue
			}
			at := keyTime(k)
			key := at.Format("2006-01")
			if !at.Before(recent) {
				key = at.Format("2006-01-02")
			}
			if n := len(days); n > 0 && days[n-1].Key == key {
				days[n-1].Count++
				continue
			}
			days = append(days, chat.Day{Key: key, Count: 1})
		}
		return nil
	})
	return days, err
}

// keyTime reads the time of a key of the list, in local time.
func keyTime(key []byte) time.Time {
	return time.Unix(0, int64(lastNumber(key[:8]))).Local()
}
