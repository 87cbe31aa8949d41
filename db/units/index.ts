/** Units, their pools and counters, blocks, assignments and housekeeping. Other modules and the edges import this file alone. */
export { assignmentStatuses, assignmentsOf, guestName, listAssignments } from './assignments/read.ts'
export { leaveUnits, lockPools, lockUnitsOf, occupy, releaseUnits, vacate } from './assignments/occupy.ts'
export { freeOn, leftIn, leftOf, stayMoves, tightestOn, usage } from './rules/availability.ts'
export { forcedNights, leftInPools, readLeft, readNights } from './availability.ts'
export type { LeftInPools, LeftOn, PoolShare, Counters, PoolNight } from './rules/availability.ts'
export { freeUnits, unitsFor } from './available.ts'
export { cancelBlock, closeBlocks, endBlock, enqueueCloseBlocks } from './blocks/end.ts'
export {
  blockKinds,
  blockPhases,
  blockReasons,
  blockStatuses,
  listBlocks,
  readBlock,
  staysOfBlock,
} from './blocks/read.ts'
export { changeBlock } from './blocks/change.ts'
export { createBlock, previewBlock } from './blocks/create.ts'
export { clearUnits } from './assignments/clear.ts'
export { setConditions } from './unit-conditions.ts'
export { enqueueTasks, generateTasks } from './daily-tasks.ts'
export { readHousekeepingBoard } from './housekeeping-board.ts'
export { lockPoolNights, moveInventory, registerReaper } from './inventory.ts'
export type { Move, PoolNightKey } from './inventory.ts'
export { extendNights, nightsFrom, poolsShortOfHorizon } from './nights.ts'
export { observe } from './observe.ts'
export { readOversell, setOversell, unitPoolOf } from './oversell.ts'
export { archiveUnit, restoreUnit } from './units/status.ts'
export { changeUnit } from './units/change.ts'
export { changePool, createPool, deletePool, insertPool, listPools, readPool } from './unit-pools.ts'
export { propertiesWithCounters, recountNights, recountRange } from './recount.ts'
export { erasableRefusals, eraseRefusals } from './refusals.ts'
export { placeStays, planStays, poolsToRepack, repackHouse, repackPools, repackRange } from './assignments/repack.ts'
export { listSheets, publishSheet, readSheet, shareOutDay } from './housekeeping-sheets.ts'
export {
  fromUnits,
  presentDay,
  presentDayOf,
  stateColumns,
  unitConditions,
  unitOccupancies,
  unitServices,
} from './state.ts'
export type { UnitState } from './state.ts'
export { tellAssigned, unitsOf } from './stay-events.ts'
export { mayReoccupy, moveUnit, reoccupy, unoccupy } from './assignments/move.ts'
export { swapUnits } from './assignments/swap.ts'
export { staysToTakeIn, takeIn } from './assignments/take-in.ts'
export { changeTask } from './housekeeping-tasks/change.ts'
export { listTasks, readTask } from './housekeeping-tasks/read.ts'
export { planTask } from './housekeeping-tasks/create.ts'
export { completeTask, inspectTask, skipTask, startTask } from './housekeeping-tasks/moves.ts'
export type { Guarded } from './housekeeping-tasks/moves.ts'
export { archiveUnitType, restoreUnitType } from './unit-types/status.ts'
export { changeUnitType, requireSoldAs } from './unit-types/change.ts'
export { createUnitType } from './unit-types/create.ts'
export { listUnitTypes, readUnitType } from './unit-types/read.ts'
export { lackingUnits } from './assignments/unassigned.ts'
export type { Need } from './assignments/unassigned.ts'
export { tapeItems, tapeUnassigned, tapeUnits } from './unit-calendar.ts'
export type { TapeItem } from './unit-calendar.ts'
export { createUnits } from './units/create.ts'
export { listUnits, readUnit, readUnits, unitSorts } from './units/read.ts'
export type { UnitRecord } from './units/read.ts'
export { capacityOfNights, countsOfNight, overbookedNights } from './night-counts.ts'
