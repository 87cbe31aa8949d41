import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { Knex } from 'knex'
import { openOutbox } from './outbox.ts'
import type { Client, Last, Outbox } from './outbox.ts'
import type { Connection, Planned, Statement } from './prepared.ts'

// A transaction of knex makes a knex of its own, with a hundred methods and four emitters, which cost more than most statements. Few commands
// use any of it: here it is made on demand.

type Root = Client & {
  acquireConnection: () => Promise<Connection>
  releaseConnection: (connection: Connection) => Promise<void>
  emit: (event: string, ...given: unknown[]) => boolean
}

const makeKnex = createRequire(import.meta.url)('knex/lib/knex-builder/make-knex.js') as (
  client: object,
) => Knex.Transaction
const rollbackMs = 5_000

const outboxes = new WeakMap<object, Outbox>()

/** The outbox of a transaction; undefined for knex's own, such as migrations. */
export const outboxOf = (trx: Knex): Outbox | undefined => outboxes.get(trx)

/** Sent once the work is done, with the commit. Once per transaction. */
export const lastly = (trx: Knex, last: Last): void => {
  const outbox = outboxOf(trx)
  if (!outbox) throw new Error('this transaction was not opened by inTenant or inPlatform')
  outbox.addLast(last)
}

/** Makes a client for this connection alone. Its listeners hear this transaction, and so do listeners of the pool. */
const clientOf = (root: Root, connection: Connection, outbox: Outbox): Root => {
  const heard = new EventEmitter()
  return Object.assign(Object.create(root) as Root, {
    transacting: true,
    query: outbox.query,
    acquireConnection: () => Promise.resolve(connection),
    releaseConnection: () => Promise.resolve(),
    on: heard.on.bind(heard),
    removeListener: heard.removeListener.bind(heard),
    emit: (event: string, ...given: unknown[]) => {
      heard.emit(event, ...given)
      return root.emit(event, ...given)
    },
    transaction: () => {
      throw new Error('a transaction within a transaction would go past what waits; use a savepoint')
    },
  })
}

/** Made when it is first used for more than its name. */
const lazily = (make: () => Knex.Transaction): Knex.Transaction => {
  let made: Knex.Transaction | null = null
  const knex = () => (made ??= make())
  return new Proxy((() => {}) as unknown as Knex.Transaction, {
    // A promise asks whatever it is resolved with whether it is one.
    get: (_, key) => (key === 'then' ? undefined : (Reflect.get(knex(), key) as unknown)),
    set: (_, key, value) => Reflect.set(knex(), key, value),
    has: (_, key) => Reflect.has(knex(), key),
    apply: (_, self, given) => Reflect.apply(knex(), self, given) as unknown,
  })
}

/** Destroys a connection on which a transaction may still be open. */
const takeBack = async (outbox: Outbox, connection: Connection): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a rollback was not answered')), rollbackMs)
  })
  try {
    await Promise.race([outbox.rollback(), late])
  } catch (error) {
    connection.__knex__disposed ??= error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs `work` in a transaction that begins with `opening`: committed once it resolves, taken back where it rejects. What goes wrong with taking it back
 * is not told: what `work` said counts.
 */
export const transact = async <T>(
  knex: Knex,
  opening: readonly Statement[],
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> => {
  const root = knex.client as Root
  const connection = await root.acquireConnection()
  let own: Root | null = null
  const tell = ({ native, values }: Planned, told: object | undefined) => {
    if (own === null && knex.listenerCount('query') === 0) return
    const { __knexUid } = connection
    ;(own ?? root).emit('query', { __knexUid, ...told, sql: native, bindings: values })
  }
  const outbox = openOutbox(
    { client: root, connection, tell, sendNow: (query) => root.query.call(own ?? root, connection, query) },
    opening,
  )
  const trx = lazily(() => {
    own = clientOf(root, connection, outbox)
    return Object.assign(makeKnex(own), { isTransaction: true, isCompleted: outbox.isOver })
  })
  outboxes.set(trx, outbox)
  try {
    const value = await work(trx)
    await outbox.commit()
    return value
  } catch (error) {
    await takeBack(outbox, connection)
    throw error
  } finally {
    await root.releaseConnection(connection)
  }
}
