/** SQL that takes dispatched jobs back; BullMQ's copies become ghosts. `condition` picks rows of `jobs`; locked ones are skipped. */
export const takeBackWhere = (condition: string) => `
  update jobs set status = 'pending', leased_until = null, worker = null
  where id in (select id from jobs where ${condition} for update skip locked)`
