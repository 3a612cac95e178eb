import { LAB_KEY } from '../../lab/messages.ts'
import { MESSAGES } from '../addresses.ts'
import type { LabDomain } from '../world.ts'
import { dnsDomain, txt } from './zone.ts'

/**
 * The domain whose mail is signed, and the hosts on the way of its messages to the one-time addresses of
 * `inbound.test`.
 */
export const messageDomains: readonly LabDomain[] = [
  dnsDomain('inbound.test', 'the program receives messages for it', 'unsigned', [
    '@ MX 10 mx',
    `mx A ${MESSAGES.inbound}`,
  ]),
  dnsDomain('signer.test', 'a Postfix with opendkim and an Exim send for it', 'unsigned', [
    '@ MX 10 mail',
    `mail A ${MESSAGES.postfix}`,
    `exim A ${MESSAGES.exim}`,
    `@ TXT ${txt(`v=spf1 ip4:${MESSAGES.postfix} ip4:${MESSAGES.exim} -all`)}`,
    `a._domainkey TXT ${txt(LAB_KEY)}`,
    `_dmarc TXT ${txt('v=DMARC1; p=reject; rua=mailto:dmarc@signer.test')}`,
  ]),
  dnsDomain('forward.test', 'a forwarder keeps the envelope sender', 'unsigned', [
    '@ MX 10 mx',
    `mx A ${MESSAGES.forwarder}`,
  ]),
  dnsDomain('narrow.test', 'the same forwarder without 8BITMIME', 'unsigned', [
    '@ MX 10 mx',
    `mx A ${MESSAGES.narrow}`,
  ]),
  dnsDomain('list.test', 'a mailing list', 'unsigned', [
    '@ MX 10 mx',
    `mx A ${MESSAGES.list}`,
    `@ TXT ${txt('v=spf1 mx -all')}`,
  ]),
]

export const messagePointers: readonly (readonly [address: string, name: string])[] = [
  [MESSAGES.postfix, 'mail.signer.test'],
  [MESSAGES.exim, 'exim.signer.test'],
  [MESSAGES.forwarder, 'mx.forward.test'],
  [MESSAGES.list, 'mx.list.test'],
]
