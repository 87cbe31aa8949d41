import { expect } from 'chai'
import { inPlatform, sql } from '../../db/connection.ts'
import { rollPartitions } from '../../db/jobs/operate.ts'
import { useDatabase } from '../support/database.ts'

describe('the archive of jobs', () => {
  const held = useDatabase()

  /** A week's partition that begins so many days ago. */
  const makeWeek = async (parent: 'job_archive_money' | 'job_archive_other', days: number): Promise<string> => {
    const [week] = await sql<{ name: string; from: string; until: string }>(
      held.database.admin,
      `select to_char(d, 'YYYYMMDD') as name, d::date::text as "from", (d + interval '7 days')::date::text as until
       from (select (now() at time zone 'UTC')::date - make_interval(days => ?) as d) w`,
      [days],
    )
    const name = `${parent}_${week?.name}`
    await held.database.admin.raw(
      `create table ${name} partition of ${parent} for values from ('${week?.from} 00:00Z') to ('${week?.until} 00:00Z')`,
    )
    return name
  }
  const there = async (names: string[]) =>
    (
      await sql<{ relname: string }>(
        held.database.admin,
        `select relname from pg_class where relname = any(?) order by relname`,
        [names],
      )
    ).map(({ relname }) => relname)

  it('forgets a week once all of it is 30 days old, one of money once it is 400; next weeks are ready', async () => {
    const kept = [await makeWeek('job_archive_other', 37), await makeWeek('job_archive_money', 407)]
    const gone = [await makeWeek('job_archive_other', 45), await makeWeek('job_archive_money', 415)]
    const money = await makeWeek('job_archive_money', 45)
    await inPlatform(rollPartitions)
    expect(await there([...kept, ...gone, money])).to.deep.equal([...kept, money].sort())
    const [ahead] = await sql<{ isReady: boolean }>(
      held.database.admin,
      `select count(*) = 2 as is_ready from pg_class where relname ~ ('^job_archive_(money|other)_' || to_char(date_trunc('week', now() at time zone 'UTC') + interval '28 days', 'YYYYMMDD') || '$')`,
    )
    expect(ahead?.isReady).to.equal(true)
  })
})
