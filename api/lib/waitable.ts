import { Int, Obj, OneOf, Opt } from '../../config/schema.ts'
import type { Properties, Schema, Static } from '../../config/schema.ts'
import type { Access } from './access/kinds.ts'
import { waitUntil } from './long-poll.ts'
import type { AnyRoute, Input, Loose, RouteOptions } from './route.ts'

const longestSeconds = 20

type Given<F extends Properties> = Static<ReturnType<typeof Obj<F>>>
/** The input of a read, with the transaction that it runs in. */
type Reading<A extends Access, Path extends string, F extends Properties> = Omit<
  Input<A, Path, undefined, undefined, undefined, undefined>,
  'query' | 'expectedVersion'
> & { query: Given<F> }

/** A read waits until its state is another than `since` of the query, or until `isEnough` says so. */
type Ending<State> =
  | { since: readonly [string, ...string[]]; isEnough?: never }
  | { since?: never; isEnough: (state: State) => boolean }

type WaitableOptions<A extends Access, Path extends string, F extends Properties, R extends Schema, State> = Omit<
  RouteOptions,
  'status' | 'ok' | 'idempotency' | 'record'
> &
  Ending<State> & {
    path: Path
    access: A
    /** Query parameters beside `waitSeconds` and `since`. */
    query?: F
    returns: R
    /** Reads the state that may still change: once a second while it waits, each time in a transaction of its own. */
    read: (input: Reading<A, Path, F>) => Promise<State>
    /** Reads the reply, once the wait is over. */
    find: (input: Reading<A, Path, F>) => Promise<Loose<Static<R>>>
  }

type Opened = {
  open: (work: (trx: unknown) => Promise<unknown>) => Promise<unknown>
  request: { gone: AbortSignal }
  query: { waitSeconds?: number; since?: string }
}

/** A read that can wait up to 20 seconds for another state, as a route. Nothing is held open while it waits. */
export const waitable = <
  const A extends Access,
  const Path extends string,
  R extends Schema,
  State,
  F extends Properties = Record<never, never>,
>({
  query,
  since,
  isEnough,
  read,
  find,
  ...options
}: WaitableOptions<A, Path, F, R, State>): AnyRoute => ({
  ...options,
  method: 'GET',
  transaction: 'none',
  query: Obj({
    ...query,
    waitSeconds: Opt(Int(0, longestSeconds)),
    ...(since ? { since: Opt(OneOf([...since])) } : {}),
  }),
  handle: async ({ open, ...input }: Opened) => {
    const { waitSeconds = 0, since: known } = input.query
    const inOwn = <T>(work: (reading: Reading<A, Path, F>) => Promise<T>) =>
      open((trx) => work({ ...input, trx } as unknown as Reading<A, Path, F>)) as Promise<T>
    const isOver = isEnough ?? ((state: State) => state !== known)
    if (isEnough || known !== undefined)
      await waitUntil(() => inOwn(read), isOver, { seconds: waitSeconds, gone: input.request.gone })
    return inOwn(find)
  },
})
