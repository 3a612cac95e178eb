/** As much of the test dependency `dns-packet` as the tests and benchmarks use; it ships no types. */
declare module 'dns-packet' {
  export type PacketRecord = {
    readonly type: string
    readonly name: string
    readonly ttl?: number
    readonly class?: string
    // biome-ignore lint/suspicious/noExplicitAny: the data has another shape for each type
    readonly data?: any
    readonly [key: string]: unknown
  }
  export type Packet = {
    readonly id?: number
    readonly type?: string
    readonly flags?: number
    readonly rcode?: string
    readonly questions?: readonly { readonly type: string; readonly name: string; readonly class?: string }[]
    readonly answers?: readonly PacketRecord[]
    readonly authorities?: readonly PacketRecord[]
    readonly additionals?: readonly PacketRecord[]
  }
  export type Decoded = {
    readonly id: number
    readonly flags: number
    readonly questions: readonly { readonly type: string; readonly name: string; readonly class: string }[]
    readonly answers: readonly PacketRecord[]
    readonly authorities: readonly PacketRecord[]
    readonly additionals: readonly PacketRecord[]
  }
  const packet: {
    readonly encode: (packet: Packet) => Buffer
    readonly decode: (bytes: Buffer) => Decoded
    readonly RECURSION_DESIRED: number
    readonly RECURSION_AVAILABLE: number
    readonly AUTHORITATIVE_ANSWER: number
    readonly TRUNCATED_RESPONSE: number
    readonly AUTHENTIC_DATA: number
  }
  // biome-ignore lint/style/noDefaultExport: this is how the package exports
  export default packet
}
