import type { AnyTrx, Context, OpenOptions } from '../../../db/lib/connection.ts'
import type { Admission, Caller } from '../caller.ts'
import type { RequestFacts } from '../route.ts'

/** A request whose caller is known, before anything of a tenant is read. */
export type Call = {
  caller: Caller
  request: RequestFacts
  params: Record<string, string>
  /** The facts of the request that its transactions carry into audit and events. */
  context: Partial<Context>
}

/** The way in of one kind of access: made for each request, before its transaction is open. */
export type Entry<T extends AnyTrx> = {
  /** Given to the handler beside its input; Idempotency-Keys are kept by tenant. */
  context: {
    level?: 'N1' | 'N2'
    tenantId?: string
    propertyId?: string
    bookingId?: string
    guestRegistrationId?: string
  }
  /** Checks inside a transaction that the caller may come in; null where that is known without one. */
  enter: ((trx: T) => Promise<Admission | undefined>) | null
  open: <R>(work: (trx: T) => Promise<R>, options?: OpenOptions) => Promise<R>
  /** The body, where it was parsed to find the property. */
  body?: unknown
  /** The Idempotency-Key is asked for together with `enter`, in one round trip. */
  keyAtOnce?: true
}
