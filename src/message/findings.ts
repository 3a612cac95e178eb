import { defineFindings, high, info, list, low, medium } from '../checks/check.ts'

export const messageFindings = defineFindings({
  'message.dmarc_failed': high({
    title: 'DMARC fails',
    detail: ({ domain, reason, would }) =>
      `For ${domain} ${reason}. ${would === 'none' ? 'The policy is none, so receivers deliver the message as they see fit.' : `The policy asks receivers to ${would} such a message.`}`,
    reference: 'RFC 9989 §5.3',
  }),
  'message.looks_forged': info({
    title: 'The message looks forged',
    detail: ({ domain, evidence, would }) =>
      `${evidence}. If it is not yours, nothing has to be done${would === 'none' ? '' : `: the policy of ${domain} asks receivers to ${would} such mail`}.`,
    reference: 'RFC 9989 §1',
  }),
  'message.no_dmarc_record': medium({
    title: 'No DMARC record for the author',
    detail: ({ domain, reason }) => `Receivers cannot apply DMARC to ${domain}: ${reason}.`,
    repair: 'See the plan of the domain.',
    reference: 'RFC 9989 §4.7',
  }),
  'message.dmarc_unknown': info({
    title: 'DMARC could not be evaluated',
    detail: ({ reason }) => `Whether DMARC passes is not known: ${reason}.`,
    repair:
      'Analyse the message again if a lookup had no answer. If the connection is not known, give its address (ip) and the envelope sender (mail_from), or the names of your own mail hosts (received_by). If the body is missing, give the whole message.',
    reference: 'RFC 9989 §5.3',
  }),
  'message.spf_failed': medium({
    title: 'SPF does not pass',
    detail: ({ address, domain, result, reason }) =>
      reason
        ? `The result of SPF for ${address} and ${domain} is ${result}: ${reason}`
        : `The result of SPF for ${address} and ${domain} is ${result}.`,
    repair: 'If this host sends for the domain, name it in the SPF record of the domain; a forwarder needs nothing.',
    reference: 'RFC 7208 §8',
  }),
  'message.spf_not_aligned': info({
    title: 'SPF passes for another domain',
    detail: ({ domain, author }) =>
      `SPF passes for ${domain}, which is not aligned with ${author}, the domain of the author.`,
    reference: 'RFC 9989 §4.4.2',
  }),
  'message.spf_forwarded': info({
    title: 'SPF does not pass because the message was forwarded',
    detail: ({ address, evidence }) =>
      `${address} is no host of the sender: ${evidence}. SPF cannot pass there unless a forwarder changes the envelope; DKIM can, and does.`,
    reference: 'RFC 7960 §3.2',
  }),
  'message.not_signed': medium({
    title: 'No DKIM signature',
    detail: ({ stranger, author }) =>
      stranger
        ? `The message has no DKIM signature, and SPF passes for ${stranger} alone: nothing shows that it is of ${author}, so it may be forged.`
        : 'The message has no DKIM signature, so nothing but SPF can authenticate it, and SPF ends at the first forwarder.',
    repair: 'Let the sending server sign with a key of the domain of the author.',
    reference: 'RFC 6376 §5',
  }),
  'message.dkim_failed': high({
    title: 'A DKIM signature fails',
    detail: ({ domain, selector, reason }) => `The signature of ${domain} (selector ${selector}) fails: ${reason}.`,
    repair: 'What to do depends on the cause.',
    reference: 'RFC 6376 §6.1',
  }),
  'message.dkim_failed_beside': low({
    title: 'A DKIM signature fails that is not needed',
    detail: ({ domain, selector, reason, isForeign }) =>
      `The signature of ${domain} (selector ${selector}) fails: ${reason}. ${isForeign ? 'It is of another domain than the author, and DMARC passes without it' : 'An aligned signature passes'}, so this costs nothing.`,
    reference: 'RFC 6376 §4.2',
  }),
  'message.dkim_unknown': info({
    title: 'A DKIM signature could not be verified',
    detail: ({ domain, selector, reason }) => `The signature of ${domain} (selector ${selector}) is open: ${reason}.`,
    reference: 'RFC 6376 §6.1.2',
  }),
  'message.dkim_not_aligned': medium({
    title: 'No signature of the domain of the author',
    detail: ({ domains, author }) => `The signatures of ${list(domains)} pass, but none is aligned with ${author}.`,
    repair:
      'Set up DKIM for the own domain of the author at the service that sends, so that it signs with d= of that domain.',
    reference: 'RFC 9989 §4.4.1',
  }),
  'message.dkim_length': medium({
    title: 'A signature covers only a part of the body',
    detail: ({ domain, signed, length }) =>
      `The signature of ${domain} has l=${signed}, of ${length} bytes of the body: anybody can add text without breaking it.`,
    repair: 'Let the signer leave out the tag l=.',
    reference: 'RFC 6376 §8.2',
  }),
  'message.dkim_testing': info({
    title: 'The key is marked as a test',
    detail: ({ domain, name }) =>
      `The key of ${domain} at ${name} has t=y: receivers may treat a message that it signed like one without a signature.`,
    repair: 'Publish the key without t=y when the signatures hold.',
    reference: 'RFC 6376 §3.6.1',
  }),
  'message.dkim_future': medium({
    title: 'A signature was made in the future',
    detail: ({ domain, date }) =>
      `The signature of ${domain} says that it was made at ${date}: receivers that compare it with their clock refuse it.`,
    repair: 'Set the clock of the server that signs.',
    reference: 'RFC 6376 §3.5',
  }),
  'message.dkim2': info({
    title: 'The message has a DKIM2 signature',
    detail: () => 'DKIM2 is a draft: the signature is not judged.',
    reference: 'RFC 6376 §6.1',
  }),
  'message.dkim_unsigned_fields': low({
    title: 'Header fields that readers see are not signed',
    detail: ({ domain, names }) => `The signature of ${domain} does not cover ${list(names)}.`,
    repair: 'Sign From, To, Subject, Date, Message-ID and the MIME fields.',
    reference: 'RFC 6376 §5.4.1',
  }),
  'message.too_many_signatures': info({
    title: 'Not all signatures were verified',
    detail: ({ count, seen }) => `The message has ${count} DKIM signatures; the first ${seen} were verified.`,
    reference: 'RFC 6376 §6.1',
  }),
  'message.forwarded': info({
    title: 'The message was forwarded',
    detail: ({ evidence }) => `A host on the way passed it on to another address: ${evidence}.`,
    reference: 'RFC 7960 §3.2',
  }),
  'message.resent': info({
    title: 'The message was resent',
    detail: ({ by }) =>
      `Somebody sent it again to other recipients (Resent fields${by === '' ? '' : ` of ${by}`}); the author stays the same, so SPF passes for another domain.`,
    reference: 'RFC 5322 §3.6.6',
  }),
  'message.through_list': info({
    title: 'The message came through a mailing list',
    detail: ({ list: name }) =>
      `It has the field List-Id ${name}. Lists that change the subject or add a footer break signatures.`,
    reference: 'RFC 7960 §3.2.3',
  }),
  'message.arc_failed': info({
    title: 'The ARC chain does not hold',
    detail: ({ reason }) => `${reason}. This is reported and not scored.`,
    reference: 'RFC 8617 §5.2',
  }),
  'message.claims_differ': info({
    title: 'A receiver came to another result',
    detail: ({ host, method, claimed, ours }) =>
      `${host} wrote ${method}=${claimed}; we come to ${ours}. Records may have changed since, or the message.`,
    reference: 'RFC 8601 §2.2',
  }),
  'message.field_missing': medium({
    title: 'A header field is missing',
    detail: ({ name }) => `The message has no field ${name}.`,
    repair: 'Add the field where the message is made.',
    reference: 'RFC 5322 §3.6',
  }),
  'message.field_doubled': medium({
    title: 'A header field occurs more than once',
    detail: ({ name, count }) =>
      `The field ${name} occurs ${count} times, but it may occur once; readers and filters choose different ones.`,
    repair: 'Write the field once.',
    reference: 'RFC 5322 §3.6',
  }),
  'message.several_authors': medium({
    title: 'Several authors',
    detail: ({ count, domains }) =>
      `The field From has ${count} addresses of ${domains} ${domains === 1 ? 'domain' : 'domains'}; many receivers refuse such messages.`,
    repair: 'Write one author, and the others in Cc or Reply-To.',
    reference: 'RFC 9989 §5.3.1',
  }),
  'message.no_author': high({
    title: 'No author address',
    detail: () => 'The field From has no address with a domain.',
    repair: 'Write an address into From.',
    reference: 'RFC 5322 §3.6.2',
  }),
  'message.display_name_address': medium({
    title: 'The display name holds another address',
    detail: ({ name, address }) =>
      `The name "${name}" looks like an address, but the message is from ${address}, as in phishing.`,
    repair: 'Write a name, or the same address.',
    reference: 'RFC 5322 §3.4',
  }),
  'message.raw_octets': medium({
    title: 'Octets above 127 in header fields',
    detail: () =>
      'Header fields have octets above 127, but nothing says that the message was sent with SMTPUTF8; servers may refuse or change it.',
    repair: 'Encode names and subjects (RFC 2047), or send with SMTPUTF8.',
    reference: 'RFC 6532 §3.2',
  }),
  'message.long_lines': medium({
    title: 'Lines that are too long',
    detail: ({ length }) =>
      `The longest line has ${length} octets; servers may cut or break lines over 998, which breaks signatures.`,
    repair: 'Encode the text as quoted-printable or base64.',
    reference: 'RFC 5322 §2.1.1',
  }),
  'message.bare_lf': medium({
    title: 'Lines that end with LF alone',
    detail: ({ count }) =>
      `${count} ${count === 1 ? 'line ends' : 'lines end'} with LF without CR, others with CRLF; servers refuse such messages or change them.`,
    repair: 'End every line with CRLF.',
    reference: 'RFC 5321 §2.3.8',
  }),
  'message.bare_cr': medium({
    title: 'CR without LF',
    detail: ({ count }) => `The message has ${count} CR without LF.`,
    repair: 'End every line with CRLF.',
    reference: 'RFC 5322 §2.2',
  }),
  'message.nul': medium({
    title: 'NUL octets',
    detail: ({ count }) => `The message has ${count} NUL octets, which servers refuse or remove.`,
    repair: 'Encode binary content as base64.',
    reference: 'RFC 5322 §4.1',
  }),
  'message.date_invalid': medium({
    title: 'The date cannot be read',
    detail: () => 'The field Date is no date of RFC 5322.',
    repair: 'Write the date in the form `Mon, 23 Nov 2026 10:00:00 +0000`.',
    reference: 'RFC 5322 §3.3',
  }),
  'message.date_future': low({
    title: 'The date is in the future',
    detail: ({ date }) => `The field Date says ${date}; filters count that against a message.`,
    repair: 'Set the clock of the sending system.',
    reference: 'RFC 5322 §3.6.1',
  }),
  'message.clock_backwards': info({
    title: 'A clock on the way goes backwards',
    detail: ({ host, seconds }) =>
      `${host} says that it got the message ${seconds} seconds before the host that sent it to it.`,
    reference: 'RFC 5321 §4.4',
  }),
  'message.mime_broken': medium({
    title: 'The MIME structure is broken',
    detail: ({ faults }) => `Readers may show it in different ways: ${list(faults)}.`,
    repair: 'Let a library write the message.',
    reference: 'RFC 2046 §5.1',
  }),
  'message.text_missing': low({
    title: 'HTML without a text part',
    detail: () =>
      'The message has HTML but no text/plain part; filters count that against bulk mail, and some people read text.',
    repair: 'Send multipart/alternative with a text/plain part first.',
    reference: 'RFC 2046 §5.1.4',
  }),
  'message.executable': high({
    title: 'An attachment is executable',
    detail: ({ names }) => `Large providers refuse messages with ${list(names)}.`,
    repair: 'Send a link to the file.',
    reference: 'RFC 2046 §4.5.1',
  }),
  'message.tnef': low({
    title: 'The attachments are in winmail.dat',
    detail: () =>
      'Outlook sent the message as rich text (TNEF): other programs show one attachment, winmail.dat, which they cannot open.',
    repair:
      'Send HTML or plain text to recipients outside: turn TNEF off for remote domains in Exchange (Set-RemoteDomain Default -TNEFEnabled $false), and rich text off for the contact in Outlook.',
    reference: 'RFC 2045 §5.1',
  }),
  'message.too_many_fields': medium({
    title: 'Too many header fields',
    detail: ({ max }) =>
      `The message has more than ${max} header fields; only the first were read, and of the rest the author, the subject and the like.`,
    reference: 'RFC 5322 §3.6',
  }),
  'message.stray_lines': medium({
    title: 'Lines in the header section that are no fields',
    detail: ({ count }) =>
      `${count} ${count === 1 ? 'line is' : 'lines are'} no header field; servers may end the header section there.`,
    repair: 'Write one field a line, with a colon after its name.',
    reference: 'RFC 5322 §2.2',
  }),
  'message.one_click': medium({
    title: 'One-click unsubscribe is missing or incomplete',
    detail: ({ reason }) => `The message looks like bulk mail, and ${reason}. Google and Yahoo ask for it.`,
    repair:
      'Send List-Unsubscribe with one https URI and List-Unsubscribe-Post: List-Unsubscribe=One-Click, both signed.',
    reference: 'RFC 8058 §3.1',
  }),
  'message.ptr_not_confirmed': medium({
    title: 'The sending address has no name that resolves back',
    detail: ({ address }) =>
      `${address} has no PTR record whose name resolves back to it; Gmail refuses mail from such addresses.`,
    repair: 'Ask the provider of the address to set its PTR record to the name of the host.',
    reference: 'RFC 8601 §2.7.3',
  }),
  'message.no_tls': low({
    title: 'The message came without TLS',
    detail: ({ host }) => `${host} got the message over a connection without encryption.`,
    repair: 'Turn on TLS for outgoing mail.',
    reference: 'RFC 3207 §4',
  }),
  'message.address_listed': high({
    title: 'The sending address is on a blacklist',
    detail: ({ address, lists }) => `${address} is on ${list(lists)}.`,
    repair: 'Find the cause, then ask the operator of each list to remove the address.',
    reference: 'RFC 5782 §2',
  }),
  'message.domain_listed': high({
    title: 'A domain of the sender is on a blacklist',
    detail: ({ domain, lists }) => `${domain} is on ${list(lists)}.`,
    repair: 'Find the cause, then ask the operator of each list to remove the domain.',
    reference: 'RFC 5782 §2.4',
  }),
  'message.link_listed': high({
    title: 'A link leads to a host that is on a blacklist',
    detail: ({ host, lists }) => `${host} is on ${list(lists)}; filters refuse messages with such links.`,
    repair: 'Remove the link.',
    reference: 'RFC 5782 §2.4',
  }),
})
