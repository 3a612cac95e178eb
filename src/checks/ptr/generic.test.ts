import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ip } from '../../names/ip.ts'
import { looksGeneric } from './generic.ts'

it.each<[name: string, address: string, generic: boolean, why: string]>([
  ['mx1.a.example', '45.53.5.1', false, 'a mail host'],
  ['mail.a.example', '45.53.5.1', false, 'a mail host'],
  ['mail-wr1-f41.b.example', '209.85.221.41', false, 'one octet by chance'],
  ['a8-30.smtp-out.b.example', '54.240.8.30', false, 'two octets, but the word says mail'],
  ['o1.ptr5.b.example', '168.245.1.5', false, 'numbered hosts'],
  ['mx45.b.example', '45.53.5.1', false, 'one octet'],
  ['1-5-53-45.b.example', '45.53.5.1', true, 'reversed with dashes'],
  ['45.53.5.1.b.example', '45.53.5.1', true, 'dotted'],
  ['static.1.5.53.45.clients.b.example', '45.53.5.1', true, 'reversed with dots'],
  ['ip1.ip-45-53-5.b.example', '45.53.5.1', true, 'spread over labels'],
  ['host045053005001.b.example', '45.53.5.1', true, 'zero-padded'],
  ['x2d350501.b.example', '45.53.5.1', true, 'hexadecimal'],
  ['p5b2d3505.dip.b.example', '45.53.5.1', false, 'hexadecimal of another address'],
  ['pool-5-1.b.example', '45.53.5.1', true, 'a pool and half of the address'],
  ['pool-7-8.b.example', '45.53.5.1', false, 'a pool with other numbers'],
  ['client.b.example', '45.53.5.1', false, 'a customer word alone'],
  ['dyn-77.b.example', '45.53.5.1', true, 'a word of dynamic pools'],
  ['cpe7.adsl.b.example', '45.53.5.1', true, 'a word of dynamic pools in the middle'],
  ['mail.dynamic.example', '45.53.5.1', false, 'the word is the registrable domain'],
  ['dynamics.b.example', '45.53.5.1', false, 'part of another word'],
  ['mx.a.example', '2001:db8::1', false, 'a mail host'],
  ['2001-db8-0-0-0-0-5-1.b.example', '2001:db8::5:1', true, 'all groups in order'],
  ['20010db8000000000000000000050001.b.example', '2001:db8::5:1', true, 'all nibbles'],
  [
    '1.0.0.0.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.b.example',
    '2001:db8::5:1',
    true,
    'all nibbles reversed',
  ],
  ['mx-2001-db8.b.example', '2001:db8::5:1', false, 'the network alone'],
  ['', '45.53.5.1', false, 'the root'],
  ['localhost', '45.53.5.1', false, 'a single label'],
])('%s of %s: %s, %s', (name, address, generic) => expect(looksGeneric(name, ip(address))).toBe(generic))

it('never throws', () =>
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z0-9.\\-]{0,300}$/),
      fc.constantFrom('45.53.5.1', '2001:db8::1'),
      (name, address) => {
        looksGeneric(name, ip(address))
      },
    ),
  ))
