package bundle

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"
	"io"
	"math/big"
)

// State tells what checking a signature led to.
type State string

// The states. None of them loosens a permission.
const (
	Unsigned   State = "unsigned"
	SelfSigned State = "self-signed" // the signature fits, but nobody whom this computer trusts names the signer
	Signed     State = "signed"
	Broken     State = "broken"
)

// Signature describes the signature of a bundle.
type Signature struct {
	State  State
	Signer string // as the certificate names it; nobody confirms that of SelfSigned
}

// Words returns the signature in words for an approval.
func (s Signature) Words() string {
	if s.State == Signed {
		return "signed by " + s.Signer
	}
	return string(s.State)
}

// The parts of a detached signature (RFC 5652) that are read.
type (
	contentInfo struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"explicit,optional,tag:0"`
	}
	signedData struct {
		Version      int
		Digests      []pkix.AlgorithmIdentifier `asn1:"set"`
		Content      contentInfo
		Certificates asn1.RawValue `asn1:"optional,tag:0"`
		Revocations  asn1.RawValue `asn1:"optional,tag:1"`
		Signers      []signerInfo  `asn1:"set"`
	}
	signerInfo struct {
		Version    int
		ID         issuerAndSerial
		Digest     pkix.AlgorithmIdentifier
		Attributes asn1.RawValue `asn1:"optional,tag:0"`
		Algorithm  pkix.AlgorithmIdentifier
		Signature  []byte
		Unsigned   asn1.RawValue `asn1:"optional,tag:1"`
	}
	issuerAndSerial struct {
		Issuer asn1.RawValue
		Serial *big.Int
	}
	attribute struct {
		Type   asn1.ObjectIdentifier
		Values asn1.RawValue `asn1:"set"`
	}
)

var errBroken = errors.New("the signature does not fit")

// describe checks a signature of the content; nil is none.
func describe(content io.Reader, signed []byte) Signature {
	if signed == nil {
		return Signature{State: Unsigned}
	}
	signer, all, err := verify(content, signed)
	if err != nil {
		return Signature{State: Broken}
	}
	name := signer.Subject.CommonName
	if len(signer.Subject.Organization) > 0 {
		name = signer.Subject.Organization[0]
	}
	between := x509.NewCertPool()
	for _, certificate := range all {
		between.AddCert(certificate)
	}
	_, err = signer.Verify(x509.VerifyOptions{
		Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
	})
	if err != nil {
		return Signature{State: SelfSigned, Signer: name}
	}
	return Signature{State: Signed, Signer: name}
}

// verify returns the certificate whose key signed the content, and all certificates of the signature.
func verify(content io.Reader, signed []byte) (*x509.Certificate, []*x509.Certificate, error) {
	var outer contentInfo
	if _, err := asn1.Unmarshal(signed, &outer); err != nil {
		return nil, nil, err
	}
	var data signedData
	if _, err := asn1.Unmarshal(outer.Content.Bytes, &data); err != nil {
		return nil, nil, err
	}
	all, err := x509.ParseCertificates(data.Certificates.Bytes)
	if err != nil {
		return nil, nil, err
	}
	if len(data.Signers) != 1 {
		return nil, nil, errBroken
	}
	info := data.Signers[0]
	var signer *x509.Certificate
	for _, one := range all {
		if one.SerialNumber.Cmp(info.ID.Serial) == 0 && bytes.Equal(one.RawIssuer, info.ID.Issuer.FullBytes) {
			signer = one
		}
	}
	sum, kind, err := digested(content, info.Digest.Algorithm)
	if signer == nil || err != nil {
		return nil, nil, errBroken
	}
	message, err := info.signedText(sum)
	if err != nil {
		return nil, nil, err
	}
	algorithm := algorithmOf(signer.PublicKeyAlgorithm, kind)
	if message == nil { // it signs the content itself, which nobody does
		return nil, nil, errBroken
	}
	return signer, all, signer.CheckSignature(algorithm, message, info.Signature)
}

// signedText returns the attributes that were signed, after it compared the digest in them.
func (s signerInfo) signedText(sum []byte) ([]byte, error) {
	if len(s.Attributes.FullBytes) == 0 {
		return nil, nil
	}
	message := bytes.Clone(s.Attributes.FullBytes)
	message[0] = asn1.TagSet | 0x20 // they are signed as a set
	digestType := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	for rest := s.Attributes.Bytes; len(rest) > 0; {
		var one attribute
		var err error
		if rest, err = asn1.Unmarshal(rest, &one); err != nil {
			return nil, err
		}
		if !one.Type.Equal(digestType) {
			continue
		}
		var digest []byte
		if _, err := asn1.Unmarshal(one.Values.Bytes, &digest); err != nil || !bytes.Equal(digest, sum) {
			return nil, errBroken
		}
		return message, nil
	}
	return nil, errBroken
}

// digested returns the digest of the content.
func digested(content io.Reader, algorithm asn1.ObjectIdentifier) ([]byte, crypto.Hash, error) {
	var h hash.Hash
	var kind crypto.Hash
	switch {
	case algorithm.Equal(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}):
		h, kind = sha256.New(), crypto.SHA256
	case algorithm.Equal(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}):
		h, kind = sha512.New384(), crypto.SHA384
	case algorithm.Equal(asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}):
		h, kind = sha512.New(), crypto.SHA512
	default:
		return nil, 0, errBroken
	}
	_, err := io.Copy(h, content)
	return h.Sum(nil), kind, err
}

func algorithmOf(key x509.PublicKeyAlgorithm, kind crypto.Hash) x509.SignatureAlgorithm {
	switch key {
	case x509.ECDSA:
		return map[crypto.Hash]x509.SignatureAlgorithm{
			crypto.SHA256: x509.ECDSAWithSHA256, crypto.SHA384: x509.ECDSAWithSHA384,
			crypto.SHA512: x509.ECDSAWithSHA512,
		}[kind]
	case x509.RSA:
		return map[crypto.Hash]x509.SignatureAlgorithm{
			crypto.SHA256: x509.SHA256WithRSA, crypto.SHA384: x509.SHA384WithRSA, crypto.SHA512: x509.SHA512WithRSA,
		}[kind]
	}
	return x509.UnknownSignatureAlgorithm
}
