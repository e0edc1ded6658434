package window

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/draw"
	"image/png"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
)

// avatarTooLarge refuses a picture over limit.Avatar.
const avatarTooLarge = "The picture of a member has more than 128 KiB."

// Avatar keeps the picture of a member, and returns its id. data is a PNG in base64, which
// the page has drawn small; what is kept is drawn anew, so that nothing but pixels is.
func (c *Council) Avatar(data string) (string, error) {
	if int64(base64.StdEncoding.DecodedLen(len(data))) > limit.Avatar+2 { // two may be padding
		return "", badAvatar(avatarTooLarge)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", badAvatar("The picture could not be read.")
	}
	if int64(len(raw)) > limit.Avatar {
		return "", badAvatar(avatarTooLarge)
	}
	size, err := png.DecodeConfig(bytes.NewReader(raw))
	if err != nil || size.Width == 0 || size.Height == 0 {
		return "", badAvatar("The picture could not be read.")
	}
	if side := limit.AvatarSide; size.Width > side || size.Height > side {
		return "", badAvatar("The picture of a member has more than 128 pixels in one direction.")
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return "", badAvatar("The picture could not be read.")
	}
	anew := image.NewNRGBA(image.Rect(0, 0, size.Width, size.Height))
	draw.Draw(anew, anew.Rect, picture, picture.Bounds().Min, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, anew); err != nil {
		return "", err
	}
	m := chat.Media{MIME: "image/png", Name: "avatar.png", Data: out.Bytes()}
	if err := c.core.Store.PutMedia(c.call(), &m); err != nil {
		return "", err
	}
	return m.ID, nil
}

func badAvatar(message string) error {
	return fault.New(fault.Invalid, "app.avatar", message, "Choose another picture: PNG, JPEG, WebP or GIF.")
}
