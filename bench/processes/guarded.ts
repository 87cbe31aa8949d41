import Koa from 'koa'
import { Bool, Obj, Uuid } from '../../config/schema.ts'
import { openDatabase, sql } from '../../db/lib/connection.ts'
import { can, open } from '../../api/lib/access/kinds.ts'
import { makeRouter } from '../../api/lib/router.ts'
import { openRedis } from '../../api/lib/redis.ts'
import { route } from '../../api/lib/route.ts'
import { onAsk, tell } from '../child.ts'

/** One route twice: for members of a tenant whose role allows it, and for anybody. Both open a transaction and read one row in it. */
const answer = async ({ trx }: { trx: Parameters<typeof sql>[0] }) => {
  await sql(trx, `select 1`)
  return { isDone: true }
}
const common = { method: 'GET' as const, summary: 'For the bench', returns: Obj({ isDone: Bool }), handle: answer }
const guarded = route({
  ...common,
  id: 'bench.guarded',
  path: '/api/tenants/:tenantId/bench',
  params: Obj({ tenantId: Uuid }),
  access: can('read', 'Reservation'),
})
const bare = route({ ...common, id: 'bench.open', path: '/api/bench/open', access: open(), rate: 'none' })

await openDatabase()
openRedis()
const app = new Koa()
app.use((ctx, next) => {
  ctx.state.requestId = 'bench'
  ctx.state.traceparent = null
  return next()
})
app.use(makeRouter([guarded, bare]))
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  tell({ type: 'ready' })
  onAsk('where', () => Promise.resolve({ port: typeof address === 'object' ? address?.port : 0 }))
})
onAsk('cpu', () => {
  const { user, system } = process.cpuUsage()
  return Promise.resolve({ us: user + system })
})
process.once('disconnect', () => process.exit())
process.once('SIGTERM', () => process.exit())
