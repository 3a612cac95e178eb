import { defineFindings, list } from '../check.ts'

export const findings = defineFindings({
  'starttls.not_offered': {
    severity: 'high',
    title: 'A mail host without TLS',
    detail: ({ host, address }) => `${host} (${address}) does not offer STARTTLS: all mail to it travels in the clear.`,
    repair: 'Give the mail server a certificate and turn STARTTLS on.',
    reference: 'RFC 3207 §4',
  },
  'starttls.broken': {
    severity: 'high',
    title: 'STARTTLS is offered and does not work',
    detail: ({ host, address, reason }) =>
      `${host} (${address}) announces STARTTLS, and then there is no TLS: ${reason}. Some senders deliver in the clear, others not at all.`,
    repair: 'See to the certificate, its key and the TLS settings of the mail server.',
    reference: 'RFC 3207 §4.1',
  },
  'starttls.expired': {
    severity: 'medium',
    title: 'The certificate of a mail host has expired',
    detail: ({ host, expires }) =>
      `The certificate of ${host} was good until ${expires}. Most senders encrypt all the same, but none that insists on a certificate (MTA-STS) delivers.`,
    repair: 'Renew the certificate, and see to it that this happens by itself.',
    reference: 'RFC 5280 §4.1.2.5',
  },
  'starttls.expires_soon': {
    severity: 'low',
    title: 'The certificate of a mail host expires soon',
    detail: ({ host, expires, days }) => `The certificate of ${host} is good until ${expires}, for ${days} more days.`,
    repair: 'Renew the certificate.',
    reference: 'RFC 5280 §4.1.2.5',
  },
  'starttls.untrusted': {
    severity: 'info',
    title: 'A mail host with a certificate that nobody vouches for',
    detail: ({ host, reason }) =>
      `The certificate of ${host} leads to no trusted root (${reason}). Senders encrypt all the same; with MTA-STS it is refused, with DANE it may be right.`,
    repair: 'Use a certificate of a public authority, with its intermediate certificates.',
    reference: 'RFC 8461 §4.2',
  },
  'starttls.name': {
    severity: 'info',
    title: 'A mail host with a certificate for another name',
    detail: ({ host, names }) =>
      `The certificate of ${host} is for ${list(names) || 'no name at all'}. Senders encrypt all the same; with MTA-STS it is refused.`,
    repair: 'Use a certificate that has the name of the MX record.',
    reference: 'RFC 8461 §4.2',
  },
  'starttls.short_key': {
    severity: 'medium',
    title: 'Certificate with a short key',
    detail: ({ host, type, bits }) =>
      `The certificate of ${host} has a ${type} key of ${bits} bits. Senders that check certificates refuse such keys.`,
    repair: 'Get a certificate with an RSA key of 2048 bits or an ECDSA P-256 key.',
    reference: 'RFC 9325 §4.5',
  },
  'starttls.greeting': {
    severity: 'info',
    title: 'SMTP greeting without a full host name',
    detail: ({ host, address, name }) =>
      `${host} (${address}) greets as "${name}". A server must name itself by a full host name; some filters count anything else against it.`,
    repair: 'Set the host name of the mail server to a name that leads to its address.',
    reference: 'RFC 5321 §4.3.1',
  },
  'starttls.greeting_ptr': {
    severity: 'info',
    title: 'SMTP greeting and PTR name differ',
    detail: ({ host, address, name, names }) =>
      `${host} (${address}) greets as ${name}, and the PTR name of the address is ${list(names)}. That is no fault of a host that only takes mail; of one that sends, some receivers expect both to be the same.`,
    repair: 'Use one name for the greeting, the PTR record and the address record.',
    reference: 'RFC 5321 §4.1.4',
  },
  'starttls.old_protocol': {
    severity: 'medium',
    title: 'A mail host with an outdated TLS version',
    detail: ({ host, protocol }) => `${host} speaks no better than ${protocol} with us, which must no longer be used.`,
    repair: 'Turn TLS 1.2 and 1.3 on.',
    reference: 'RFC 8996 §4',
  },
  'starttls.old_accepted': {
    severity: 'low',
    title: 'A mail host still accepts outdated TLS versions',
    detail: ({ host, protocol }) =>
      `${host} agrees to ${protocol} with senders that offer nothing newer. TLS 1.0 and 1.1 must no longer be used; between mail servers they are better than no TLS, but no sender of today needs them.`,
    repair: 'Accept TLS 1.2 and 1.3 only (Postfix: smtpd_tls_protocols = >=TLSv1.2).',
    reference: 'RFC 8996 §4',
  },
  'starttls.not_heard': {
    severity: 'info',
    title: 'A mail host could not be asked about TLS',
    detail: ({ host, reason }) =>
      `Whether TLS works at ${host} stays open: ${reason}. That may be about us, not about it.`,
    reference: 'RFC 5321 §4.5.3.2',
  },
  'starttls.left_out': {
    severity: 'info',
    title: 'Not all mail hosts were asked about TLS',
    detail: ({ count, seen }) => `Of ${count} mail hosts the best ${seen} were connected to.`,
    reference: 'RFC 5321 §5.1',
  },
})
