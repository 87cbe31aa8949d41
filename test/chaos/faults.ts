import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { withClient } from '../../scripts/services/provision.ts'
import { canSkewClocks } from './fleet.ts'
import type { Kind, Member } from './fleet.ts'
import type { GatewayMood } from './gateway.ts'
import type { FaultName, Planned } from './plan.ts'
import type { Town } from './town.ts'

/** Records that a fault leaves for the checker. */
export type Left = {
  /** Keys of jobs that must have had their effect once. */
  effects: string[]
  /** Keys of jobs that must be dead. */
  poisoned: string[]
  /** Kinds of which a slot was missed. */
  missed: { kind: string; slot: string }[]
}

type Fault = (town: Town, planned: Planned, left: Left) => Promise<void>

const one = (town: Town, kind: Kind, which: number): Member => {
  const members = town.fleet.of(kind)
  return members[which % members.length] as Member
}

const during = async (ms: number, begin: () => unknown, end: () => unknown) => {
  await begin()
  try {
    await wait(ms)
  } finally {
    await end()
  }
}

/** PostgreSQL may be away because of another fault. */
const insisted = async (work: () => Promise<unknown>) => {
  for (let tries = 0; ; tries += 1)
    try {
      await work()
      return
    } catch (error) {
      if (tries > 40) throw error
      await wait(500)
    }
}

/** A row of `jobs` as another release's producer would write it, past every check of ours. */
const enqueueRaw = (town: Town, kind: string, queue: string, version: number, payload: object) => {
  const id = randomUUID()
  return insisted(() =>
    withClient(town.adminUrl(), (client) =>
      client.query(
        `insert into jobs (id, queue, kind, version, payload, request_id, actor)
         values ($1, $2, $3, $4, $5, $6, '{"type": "system", "id": null}') on conflict do nothing`,
        [id, queue, kind, version, JSON.stringify(payload), `chaos-${id}`],
      ),
    ),
  )
}

const held = async (members: readonly Member[], ms: number, how: 'kill' | 'term' = 'kill') => {
  await Promise.all(members.map((member) => member.hold(how)))
  await wait(ms)
  for (const member of members) member.start()
}

const skewed = async (town: Town, { which, lastsMs }: Planned, seconds: number) => {
  if (!canSkewClocks) throw new Error('faketime is not there: no clock is skewed')
  const worker = one(town, 'worker', which)
  await worker.hold('term')
  worker.start({}, seconds)
  await wait(lastsMs)
  await worker.hold('kill')
  worker.start()
}

const mood =
  (name: GatewayMood): Fault =>
  (town, { lastsMs }) =>
    during(
      lastsMs,
      () => town.gateway(name),
      () => town.gateway('well'),
    )

const frozen =
  (name: keyof Town['proxies']): Fault =>
  (town, { lastsMs, which }) => {
    const proxy = town.proxies[name]
    return during(
      lastsMs,
      () => {
        proxy.freeze()
        proxy.freezeNew(which % 2 === 0)
      },
      () => {
        proxy.freezeNew(false)
        // As a firewall that has forgotten: those connections never speak again.
        if (which % 3 === 0) proxy.cut()
        else proxy.thaw()
      },
    )
  }

const delayed =
  (name: keyof Town['proxies'], ms: number): Fault =>
  (town, { lastsMs }) =>
    during(
      lastsMs,
      () => town.proxies[name].delay(ms),
      () => town.proxies[name].delay(0),
    )

const dropped =
  (name: keyof Town['proxies']): Fault =>
  (town, { lastsMs }) =>
    during(
      lastsMs,
      () => town.proxies[name].drop('down'),
      () => {
        town.proxies[name].drop(null)
        // Bytes are missing in these streams: nothing can be made of them any more.
        town.proxies[name].cut()
      },
    )

const reset =
  (name: keyof Town['proxies']): Fault =>
  (town, { which }) =>
    Promise.resolve(town.proxies[name].cut((which % 3) + 1))

const dailyKind = 'ledger.ensure-years'

export const inject: Record<FaultName, Fault> = {
  'kill api': (town, { which }) => Promise.resolve(one(town, 'api', which).kill()),
  'kill relay': (town, { which }) => Promise.resolve(one(town, 'relay', which).kill()),
  'kill scheduler': (town, { which }) => Promise.resolve(one(town, 'scheduler', which).kill()),
  'kill worker': (town, { which }) => Promise.resolve(one(town, 'worker', which).kill()),
  'kill all workers': (town) => Promise.resolve(town.fleet.of('worker').forEach((worker) => worker.kill())),
  'freeze worker past its lock': (town, { which, lastsMs }) => {
    const worker = one(town, 'worker', which)
    return during(lastsMs, worker.freeze, worker.thaw)
  },
  'freeze relay': (town, { which, lastsMs }) => {
    const relay = one(town, 'relay', which)
    return during(lastsMs, relay.freeze, relay.thaw)
  },
  'freeze api': (town, { which, lastsMs }) => {
    const api = one(town, 'api', which)
    return during(lastsMs, api.freeze, api.thaw)
  },
  'end worker': (town, { which }) => Promise.resolve(one(town, 'worker', which).term()),
  'end api': (town, { which }) => Promise.resolve(one(town, 'api', which).term()),
  'end relay': (town, { which }) => Promise.resolve(one(town, 'relay', which).term()),
  deploy: async (town) => {
    for (const member of town.fleet.members) {
      member.term()
      await wait(700)
    }
  },
  'no relay': (town, { lastsMs }) => held(town.fleet.of('relay'), lastsMs),
  'missed slot': async (town, { lastsMs }, left) => {
    const schedulers = town.fleet.of('scheduler')
    await Promise.all(schedulers.map((member) => member.hold('kill')))
    // The clock is put back once: a slot that it has come to again would rightly run again.
    if (left.missed.length === 0)
      await insisted(() =>
        withClient(town.adminUrl(), async (client) => {
          const { rows } = await client.query<{ slot: Date }>(
            `update schedule set next_at = date_trunc('day', now()) + interval '40 minutes' - case when now()::time < '00:45' then interval '1 day' else interval '0' end
             where kind = $1 returning next_at as slot`,
            [dailyKind],
          )
          if (rows[0]) left.missed.push({ kind: dailyKind, slot: rows[0].slot.toISOString() })
        }),
      )
    await wait(lastsMs)
    for (const member of schedulers) member.start()
  },
  'kill redis': (town, { lastsMs }) => during(lastsMs, town.redisServer.kill, town.redisServer.start),
  'wipe redis': (town) => town.redis((redis) => redis.flushall()).then(() => {}),
  'hang redis': (town, { lastsMs }) => during(lastsMs, town.redisServer.freeze, town.redisServer.thaw),
  'fill redis': (town, { lastsMs }) =>
    during(
      lastsMs,
      () => town.redis((redis) => redis.config('SET', 'maxmemory', '1mb')),
      () => town.redis((redis) => redis.config('SET', 'maxmemory', '0')),
    ),
  'lose keys of redis': (town, { which }) =>
    town.redis(async (redis) => {
      const keys = (await redis.keys('{pousada}:*')).filter((key) =>
        /:j-|:wait$|:active$|:delayed$|:prioritized$/.test(key),
      )
      const gone = keys.filter((_, index) => (index + which) % 3 === 0)
      if (gone.length > 0) await redis.del(...gone)
    }),
  'restart postgres': (town) => town.postgres.restart(),
  'kill postgres': (town) => town.postgres.kill(),
  'terminate backends': async (town, { lastsMs }) => {
    for (const end = Date.now() + lastsMs; Date.now() < end; await wait(200))
      await withClient(town.adminUrl(), (client) =>
        client.query(
          `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
           where usename = 'pousada_service' order by (state = 'active' or state like 'idle in%') desc, random() limit 4) victim`,
        ),
      ).catch(() => {})
  },
  'freeze connections to postgres': frozen('postgres'),
  'reset connections to postgres': reset('postgres'),
  'slow postgres': delayed('postgres', 60),
  'freeze connections to redis': frozen('redis'),
  'reset connections to redis': reset('redis'),
  'slow redis': delayed('redis', 80),
  'drop answers of redis': dropped('redis'),
  'drop answers of the gateway': dropped('gateway'),
  'reset connections to the gateway': reset('gateway'),
  'gateway busy': mood('busy'),
  'gateway slow': mood('slow'),
  'gateway failing': mood('failing'),
  'gateway acts and hangs': mood('hangs_after'),
  'gateway hangs': mood('hangs_before'),
  'gateway repeats callbacks': mood('repeats_callbacks'),
  'gateway reorders callbacks': mood('reorders_callbacks'),
  'gateway loses callbacks': mood('loses_callbacks'),
  'reset connections to smtp': reset('smtp'),
  'drop answers of smtp': dropped('smtp'),
  'reset connections to the carrier': reset('carrier'),
  'drop answers of the carrier': dropped('carrier'),
  'clock ahead': (town, planned) => skewed(town, planned, 300),
  'clock behind': (town, planned) => skewed(town, planned, -300),
  poison: async (town, { which }, left) => {
    const key = `poison-${which}`
    await enqueueRaw(town, 'chaos.poison', 'inventory', 1, { key })
    left.poisoned.push(key)
  },
  'blocked loop': async (town, { which }, left) => {
    const key = `block-${which}-${left.effects.length}`
    await enqueueRaw(town, 'chaos.block', 'ledger', 1, { key })
    left.effects.push(key)
  },
  'newer producer': async (town, { which }, left) => {
    for (const version of [1, 2]) {
      const key = `note-${which}-${version}-${left.effects.length}`
      await enqueueRaw(town, 'chaos.note', 'messages', version, { key, ...(version === 2 ? { note: 'new' } : {}) })
      left.effects.push(key)
    }
  },
}
