import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import { createGuests } from '../../db/guests/index.ts'
import { makeHouse } from '../../test/support/factories.ts'
import { newCpf } from '../../test/guests/support.ts'
import { load } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { judge } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'
import { keysOf } from './keys.ts'

const guests = sized(1_000_000, 20_000)
const known = 50
const seconds = sized(5, 2)

const firstNames = `array['ana','joao','maria','jose','rui','lia','ivo','eva','paulo','clara','pedro','laura','bruno','julia','tiago','rita','caio','nina','hugo','alice']`
const lastNames = `array['silva','souza','lima','alves','costa','rocha','dias','nunes','melo','reis','prado','pinto','moura','teles','freitas','barros','campos','duarte','farias','ramos']`

/** Guests of a tenant as rows alone: names as they are spread in a country, the other keys by chance. Triggers of a million rows are not what is measured. */
const fill = (admin: Knex, tenantId: string) =>
  admin.transaction(async (trx) => {
    await sql(trx, `set local session_replication_role = replica`)
    await sql(
      trx,
      `insert into guest (tenant_id, id, first_name, last_name, name_search, source, email_index, phone_index, phone_tail_index, name_index)
       select ?, gen_random_uuid(), first, last, first || ' ' || last, 'staff', decode(md5('e' || n), 'hex'), decode(md5('p' || n), 'hex'),
         decode(md5('t' || n % 10000), 'hex'), decode(md5(first || last), 'hex')
       from (select n, (${firstNames})[1 + n % 20] as first,
           (${lastNames})[1 + n / 20 % 20] || ' ' || (${lastNames})[1 + n / 400 % 20] || (n / 8000) as last
         from generate_series(1, ?) n) x`,
      [tenantId, guests],
    )
    await sql(
      trx,
      `insert into guest_word (tenant_id, guest_id, word)
       select distinct g.tenant_id, g.id, w from guest g, unnest(string_to_array(g.name_search, ' ')) w where g.tenant_id = ? and w <> ''`,
      [tenantId],
    )
  })

/** Searches of the desk by each kind of word, among a million guests of one tenant. */
export const people = async (admin: Knex): Promise<{ results: Result[]; notes: string[] }> => {
  const house = await makeHouse({ units: 1 })
  await fill(admin, house.tenantId)
  const cpfs = Array.from({ length: known }, newCpf)
  await house.inHouse((trx) =>
    createGuests(
      trx,
      cpfs.map((number, index) => ({
        firstName: 'João',
        lastName: `da Silva Moura${index}`,
        email: `joao${index}@example.com`,
        phone: `+55249999${10_000 + index}`,
        source: 'staff',
        documents: [{ kind: 'cpf', countryCode: 'BR', number }],
      })),
      { allowDuplicate: true },
    ),
  )
  await sql(admin, `vacuum analyze`)
  const keys = await keysOf(house.tenantId)
  const api = await startApi()
  const asked: [string, (index: number) => string][] = [
    ['by two common names', () => 'silva joao'],
    ['by a whole name', (index) => `joão silva moura${index}`],
    ['by one common name', () => 'maria'],
    ['by letters that begin names', (index) => ['mar', 'cos', 'bar', 'ali'][index % 4] ?? ''],
    ['by an e-mail', (index) => `joao${index}@example.com`],
    ['by the end of a phone', (index) => String(10_000 + index).slice(-4)],
    ['by a phone', (index) => `+55249999${10_000 + index}`],
    ['by a CPF', (index) => cpfs[index] ?? ''],
  ]
  const results: Result[] = []
  for (const [name, word] of asked) {
    const shot = (index: number) => ({
      path: `/api/tenants/${house.tenantId}/guests?q=${encodeURIComponent(word(index % known))}`,
      headers: { 'x-api-key': keys[index % keys.length] ?? '' },
    })
    await load(api.baseUrl, shot, { inFlight: 1, expected: 200, seconds: 1 })
    const { p95Ms } = await load(api.baseUrl, shot, { inFlight: 1, expected: 200, seconds })
    results.push(
      judge({ name: `search of guests ${name}, p95`, unit: 'ms', ours: p95Ms, reference: null }, { most: 50 }),
    )
  }
  await api.stop()
  return {
    results,
    notes: [`Searches: one after the other with an API key among ${guests + known} guests of one tenant.`],
  }
}
