import { defineFindings, high, info, list, low, medium } from '../check.ts'

export const findings = defineFindings({
  'starttls.not_offered': high({
    title: 'No STARTTLS',
    detail: ({ host, address }) => `${host} (${address}) does not offer STARTTLS: all mail to it is sent unencrypted.`,
    repair: 'Install a certificate on the mail server and enable STARTTLS.',
    reference: 'RFC 3207 §4',
  }),
  'starttls.broken': high({
    title: 'STARTTLS does not work',
    detail: ({ host, address, reason }) =>
      `${host} (${address}) offers STARTTLS, but TLS fails: ${reason}. Some senders then deliver unencrypted, others not at all.`,
    repair: 'Check the certificate, its key and the TLS settings of the mail server.',
    reference: 'RFC 3207 §4.1',
  }),
  'starttls.expired': medium({
    title: 'Certificate has expired',
    detail: ({ host, expires }) =>
      `The certificate of ${host} was valid until ${expires}. Most senders still encrypt, but those that require a valid certificate (MTA-STS) do not deliver.`,
    repair: 'Renew the certificate, and automate the renewal.',
    reference: 'RFC 5280 §4.1.2.5',
  }),
  'starttls.expires_soon': low({
    title: 'Certificate expires soon',
    detail: ({ host, expires, days }) => `The certificate of ${host} is valid until ${expires}, for ${days} more days.`,
    repair: 'Renew the certificate.',
    reference: 'RFC 5280 §4.1.2.5',
  }),
  'starttls.untrusted': info({
    title: 'Certificate is not trusted',
    detail: ({ host, reason }) =>
      `The certificate of ${host} has no chain to a trusted root (${reason}). Most senders still encrypt, but those that apply MTA-STS refuse it; for senders that use DANE, it may be valid.`,
    repair: 'Install a certificate of a public authority, with its intermediate certificates.',
    reference: 'RFC 8461 §4.2',
  }),
  'starttls.name': info({
    title: 'Certificate is for another name',
    detail: ({ host, names }) =>
      `The certificate of ${host} is for ${list(names) || 'no name at all'}. Most senders still encrypt; those that apply MTA-STS refuse it.`,
    repair: 'Install a certificate for the host name in the MX record.',
    reference: 'RFC 8461 §4.2',
  }),
  'starttls.short_key': medium({
    title: 'Certificate with a short key',
    detail: ({ host, type, bits }) =>
      `The certificate of ${host} has a ${type} key of ${bits} bits. Senders that check certificates refuse such keys.`,
    repair: 'Get a certificate with an RSA key of 2048 bits or an ECDSA P-256 key.',
    reference: 'RFC 9325 §4.5',
  }),
  'starttls.greeting': info({
    title: 'SMTP greeting without a full host name',
    detail: ({ host, address, name }) =>
      `${host} (${address}) greets as "${name}". A server must identify itself with a full host name; some spam filters penalize other names.`,
    repair: 'Set the host name of the mail server to a name that resolves to its address.',
    reference: 'RFC 5321 §4.3.1',
  }),
  'starttls.greeting_ptr': info({
    title: 'SMTP greeting and PTR name differ',
    detail: ({ host, address, name, names }) =>
      `${host} (${address}) greets as ${name}, and the PTR name of the address is ${list(names)}. This does not matter for a host that only receives mail. If it also sends mail, some receivers expect both names to be the same.`,
    repair: 'Use one name for the greeting, the PTR record and the address record.',
    reference: 'RFC 5321 §4.1.4',
  }),
  'starttls.old_protocol': medium({
    title: 'Outdated TLS version',
    detail: ({ host, protocol }) => `${host} supports no version newer than ${protocol}, which must no longer be used.`,
    repair: 'Enable TLS 1.2 and 1.3.',
    reference: 'RFC 8996 §4',
  }),
  'starttls.old_accepted': low({
    title: 'Outdated TLS versions accepted',
    detail: ({ host, protocol }) =>
      `${host} accepts ${protocol} from senders that support nothing newer. TLS 1.0 and 1.1 must no longer be used. Between mail servers they are better than no TLS, but no current sender needs them.`,
    repair: 'Accept only TLS 1.2 and 1.3 (Postfix: smtpd_tls_protocols = >=TLSv1.2).',
    reference: 'RFC 8996 §4',
  }),
  'starttls.not_heard': info({
    title: 'TLS could not be checked',
    detail: ({ host, reason }) => `Whether TLS works at ${host} is not known: ${reason}. The cause may be on our side.`,
    reference: 'RFC 5321 §4.5.3.2',
  }),
  'starttls.left_out': info({
    title: 'Not all mail hosts were checked for TLS',
    detail: ({ count, seen }) => `Of ${count} mail hosts, only the ${seen} with the best preference were checked.`,
    reference: 'RFC 5321 §5.1',
  }),
})
