/** The part of `autocannon` that the benchmark uses; the package has no types. */
declare module 'autocannon' {
  type Load = {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly pipelining?: number
  }
  type Result = {
    readonly requests: { readonly average: number; readonly total: number }
    readonly latency: { readonly p50: number; readonly p99: number }
    readonly errors: number
    readonly non2xx: number
  }
  // biome-ignore lint/style/noDefaultExport: it is one
  export default function autocannon(load: Load): Promise<Result>
}
