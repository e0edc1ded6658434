package httptools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the two kinds of pictures that an envelope may hold
	_ "image/png"
	"strings"
	"unicode/utf8"
)

// picture is one image of an envelope.
type picture struct {
	mime string
	data []byte
}

// Bounds of the images of an envelope (contracts/neko, item 58).
const (
	maxPictures      = 2
	maxPictureText   = 2 << 20
	maxPictureWidth  = 3840
	maxPictureHeight = 2160
	maxVisionPrompt  = 2000
)

// pictures returns the images of an envelope, and why others are not among them.
func pictures(raw json.RawMessage) (all []picture, warnings []string) {
	var list []struct {
		Data   *string         `json:"data_b64"`
		MIME   *string         `json:"mime"`
		Prompt json.RawMessage `json:"vision_prompt"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, []string{"images is not a list of pictures and was left out"}
	}
	for i, one := range list {
		where := fmt.Sprintf("image %d", i+1)
		if len(all) == maxPictures {
			warnings = append(warnings, where+fmt.Sprintf(" was left out: at most %d images a call", maxPictures))
			break
		}
		p, err := readPicture(one.Data, one.MIME)
		if err != nil {
			warnings = append(warnings, where+" was left out: "+err.Error())
			continue
		}
		all = append(all, p)
		var prompt string
		if len(one.Prompt) > 0 && !isNull(one.Prompt) &&
			(json.Unmarshal(one.Prompt, &prompt) != nil || utf8.RuneCountInString(prompt) > maxVisionPrompt) {
			warnings = append(warnings, fmt.Sprintf("the vision_prompt of %s was left out: at most %d characters", where,
				maxVisionPrompt))
		}
	}
	return all, warnings
}

func readPicture(text, mime *string) (picture, error) {
	if text == nil {
		return picture{}, errors.New("it has no data_b64")
	}
	switch {
	case strings.HasPrefix(*text, "data:"):
		return picture{}, errors.New("data_b64 begins with data:")
	case len(*text) > maxPictureText:
		return picture{}, errors.New("it is larger than 2 MiB")
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(*text), ""))
	if err != nil {
		return picture{}, errors.New("data_b64 is not base64")
	}
	config, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return picture{}, errors.New("it is neither PNG nor JPEG")
	}
	is := "image/" + kind
	switch {
	case mime != nil && *mime != is:
		return picture{}, fmt.Errorf("it says %.40q and is %s", *mime, is)
	case config.Width > maxPictureWidth || config.Height > maxPictureHeight:
		return picture{}, fmt.Errorf("it has %d×%d pixels; at most %d×%d", config.Width, config.Height, maxPictureWidth,
			maxPictureHeight)
	}
	return picture{is, data}, nil
}
