import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { type Canonicalization, canonicalField, hashBody, signedFields } from '../../src/message/canonical.ts'
import { type Field, parseMail } from '../../src/message/parse.ts'

/** A key that tests sign with: RSA of 2,048 bits, made for them. */
export const LAB_PRIVATE = `-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQColT07JqLxenoDQ89EiZA0dY/6
tWVAvcIC/4ZSOs7nQ8Gr4cNBhmr8RPgmfgysNuf30MejKigYcIprP/q3Mc/PVBw5lHHkoC8njB4x
fn8nhSmvDv1kVt5RGgyErr/GM7hyvIxfVrahiOEjhsPawL7WquubalNpuOFXK3bVkkZ/E0U6FFV1
cgQbso5PgdKTqCF+ESYpV1jNG5pz5s6xk+vagvSZR5zCEHkG7sD8a/nuR+pv41e0xq0nZh4prtgV
aw0ILVYPSibd7srep45U5ktEtEcO1vf3y0+5k2RAijtvBFh1J7K6ijzqyqsfoOH+mSEGVsXu3h6o
PzUeOGWrf3F3AgMBAAECggEABFXSJ/NBEsn+LpdP0oi3F0zupu6DQWb1K56RQGFtcK+4C0jYUexi
/pnHcotLSCJ2qf4fJChcCkTan7zFdcXnfNgXjGOE35w+74Vq7AWUv4TCeFNVBio1uAreHOC24yHx
XFdSRMwLZka0LiBeaQG2kU6pQGs7jzxx5GFPF67rS9k9oLcOxXggKacjyquYaQZ42xO/2v+GhSmJ
/pxoeJrNgONCDTQwhfJMJDHT7u5kh0th3ce0KZPO3XGmJlqhZvVqYbV0SZv5FUSXfiFU6pRInrr1
sDRXbFY2d2WYH6qB4QHjwB5rsDVl992VNO+Abg0hQxu4DE7KilPRF6O28geWAQKBgQDhdrCx9yU8
tB7jl8aqeSjpL72iLH4XSOqFxGSJmtzldDveETBau0LmY/uavq9i8JLl9cxKYd0wWlLb76zbqfTx
cw6viQYK0Ct1clW6JF2RNj7Hlv9lKe8hNIVms2SM1QkXY4kHjRSYX7kmWxJjmrJHDzmcTMwMRXbW
ihK4YAwJvQKBgQC/al+qgH4muriCvx2GL7riMnzKqLCE2t3EDiGZY/1jaJeneV7k8U+voASMM6lu
blQH8ifFBytyFEnNKa/Lkh84eZmwY2QbDh2/8kU21gXPeNoXskSXj9blKUxxaRobB5YTZYsNaT5t
D2PJPvsLuVXxbDsQHCvECesXKukh4/pJQwKBgBRFG3WkhpCCkRRdHNtOsULlq+LcpSlqwMrt8Sv9
5EYswQUh/nrpwwX7jy9GXXZDsrFB++/kBILIXBKx5ZSKHx9l/LgDVau7M20HrnVht5fKjLJc/PEX
aAxQMH4fOrb+oCaeKD+pi2R3lqnAHlMeIVEKKV/H98BSrnBzUWOKHwrxAoGBALUa+S7B6hnMuryC
BHYsfL59lFLOrkzVI9PWpvWRhHHkyPAcxqsIoiOB3CumyZ0BaCIofHZPpUyHY5ho47pRI5b0fnRE
ZbevcHhmyhPrBY5aQsb+1SUtY95oZ7o5/ggq8lSh06G5vOXFFN2Y6EAcd/M3Ot6wOLx/wd2mrPNy
1yEvAoGBALeVwBED7FiN6pezZ1M0pwz7k19rjeTDRtePM+TMcUCGBbEwDlOdSSrM01h38oN3Ghyc
vcYUR4lnpHlLaBAUif764TqFx3m3z4j3JQfvpuFjAc7oALR3cgDA8WuYitvO4Il8MApTT6UkYZ6f
xKekcvovfLzHQQAyDGBUdfw2CrDE
-----END PRIVATE KEY-----`
const PRIVATE = createPrivateKey(LAB_PRIVATE)

export type Signing = {
  readonly domain: string
  readonly selector?: string
  readonly names?: readonly string[]
  readonly canonicalization?: `${Canonicalization}/${Canonicalization}`
  /** More tags, such as `l=10; x=1700000000`. */
  readonly tags?: string
  readonly key?: KeyObject
  /** What the signer hashes in place of the canonical body. */
  readonly hashed?: (body: string) => string
}

/** The TXT record of the key. */
export const LAB_KEY =
  'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAqJU9Oyai8Xp6A0PPRImQNHWP+rVlQL3CAv+GUjrO50PBq+HDQYZq/ET4Jn4MrDbn99DHoyooGHCKaz/6tzHPz1QcOZRx5KAvJ4weMX5/J4Uprw79ZFbeURoMhK6/xjO4cryMX1a2oYjhI4bD2sC+1qrrm2pTabjhVyt21ZJGfxNFOhRVdXIEG7KOT4HSk6ghfhEmKVdYzRuac+bOsZPr2oL0mUecwhB5Bu7A/Gv57kfqb+NXtMatJ2YeKa7YFWsNCC1WD0om3e7K3qeOVOZLRLRHDtb398tPuZNkQIo7bwRYdSeyuoo86sqrH6Dh/pkhBlbF7t4eqD81Hjhlq39xdwIDAQAB'

/** A message (LF or CRLF) with CRLF, as octets. */
export const crlf = (text: string): string => text.replace(/\r?\n/g, '\r\n')

/**
 * Signs a message (RFC 6376 §5): the signature field, with its CRLF, and the message. Texts hold one octet a character.
 */
export function signed(
  text: string,
  { domain, selector = 'a', names, canonicalization = 'relaxed/relaxed', tags, key = PRIVATE, hashed }: Signing,
): string {
  const message = crlf(text)
  const mail = parseMail(Buffer.from(message, 'latin1'))
  const [header, body] = canonicalization.split('/') as [Canonicalization, Canonicalization]
  const covered = names ?? [...new Set(mail.fields.map((field) => field.name))].filter((name) => !TRACE.includes(name))
  const limit = /(?:^|;)\s*l=(\d+)/.exec(tags ?? '')?.[1]
  const hash = hashed
    ? createHash('sha256')
        .update(hashed(mail.body.toString('latin1')), 'latin1')
        .digest('base64')
    : hashBody(mail.body, body, limit === undefined ? undefined : Number(limit)).hash
  const raw = `DKIM-Signature: v=1; a=rsa-sha256; c=${canonicalization}; d=${domain}; s=${selector};\r\n\th=${covered.join(':')};${tags === undefined ? '' : ` ${tags};`}\r\n\tbh=${hash}; b=`
  const own: Field = { name: 'dkim-signature', raw }
  const fields = signedFields(mail.fields, covered, own).map((field) =>
    canonicalField(field, header).toString('latin1'),
  )
  const data = Buffer.from(fields.join('\r\n'), 'latin1')
  return `${raw}${sign('sha256', data, key).toString('base64')}\r\n${message}`
}
const TRACE = ['received', 'return-path', 'dkim-signature', 'authentication-results']
