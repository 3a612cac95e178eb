import { cidr } from '../../src/names/cidr.ts'
import { bytesOf } from '../../src/names/ip.ts'

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value }
type Node = [Node | number | undefined, Node | number | undefined]

/**
 * An MMDB file as data: networks of one family and their records (MaxMind DB File Format 2.0, records of 32 bits).
 * Networks may not overlap.
 */
export function labMmdb(networks: Readonly<Record<string, Value>>, ipVersion: 4 | 6 = 4): Buffer {
  const root: Node = [undefined, undefined]
  const data: Buffer[] = []
  let offset = 0
  for (const [network, value] of Object.entries(networks)) {
    place(root, network, offset)
    const encoded = encode(value)
    data.push(encoded)
    offset += encoded.length
  }
  const nodes: Node[] = []
  collect(root, nodes)
  const index = new Map(nodes.map((node, i) => [node, i]))
  const tree = Buffer.alloc(nodes.length * 8)
  for (const [i, node] of nodes.entries()) {
    for (const side of [0, 1] as const) {
      const to = node[side]
      const record = to === undefined ? nodes.length : typeof to === 'number' ? nodes.length + 16 + to : index.get(to)!
      tree.writeUInt32BE(record, i * 8 + side * 4)
    }
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_767_323_045,
    database_type: 'lab',
    description: { en: 'lab' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 32,
  })
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'), metadata])
}

function place(root: Node, network: string, offset: number): void {
  const { base, prefix } = cidr(network)
  const bytes = bytesOf(base)
  let node = root
  for (let depth = 0; depth < prefix; depth++) {
    const bit = ((bytes[depth >> 3]! >> (7 - (depth & 7))) & 1) as 0 | 1
    if (depth === prefix - 1) {
      node[bit] = offset
      return
    }
    const next = node[bit]
    const child: Node = Array.isArray(next) ? next : [undefined, undefined]
    node[bit] = child
    node = child
  }
}

function collect(node: Node, into: Node[]): void {
  into.push(node)
  for (const side of node) if (Array.isArray(side)) collect(side, into)
}

/** Types of the format: 2 text, 3 double, 6 uint32, 7 map, 11 array, 14 boolean. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'boolean') return control(14, value ? 1 : 0)
  if (typeof value === 'number') {
    const whole = Number.isInteger(value) && value >= 0
    const bytes = Buffer.alloc(whole ? 4 : 8)
    if (whole) bytes.writeUInt32BE(value)
    else bytes.writeDoubleBE(value)
    return Buffer.concat([control(whole ? 6 : 3, bytes.length), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)])
  const entries = Object.entries(value as { readonly [key: string]: Value })
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, of]) => [encode(key), encode(of)])])
}

function control(type: number, size: number): Buffer {
  const shown = Math.min(size, 29)
  const bytes = type <= 7 ? [(type << 5) | shown] : [shown, type - 7]
  return Buffer.from(size < 29 ? bytes : [...bytes, size - 29])
}
