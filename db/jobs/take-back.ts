/** What was handed over goes back; BullMQ's copies of it are ghosts. `condition` picks rows of `jobs`; those that something holds are passed over. */
export const takeBackWhere = (condition: string) => `
  update jobs set status = 'pending', leased_until = null, worker = null
  where id in (select id from jobs where ${condition} for update skip locked)`
