/** Units, their pools and counters, blocks, assignments and housekeeping. Other modules and the edges import this file alone. */
export { assignmentStatuses, assignmentsOf, listAssignments } from './assignment-list.ts'
export { lockPools, occupy, releaseUnits, vacate } from './assignments.ts'
export { freeOn, leftIn, leftInPools, leftOf, readLeft, readNights, stayMoves, tightestOn } from './availability.ts'
export type { LeftInPools, LeftOn, PoolShare } from './availability.ts'
export { freeUnits, unitsFor } from './available.ts'
export { cancelBlock, closeBlocks, endBlock, enqueueCloseBlocks } from './block-end.ts'
export {
  blockKinds,
  blockPhases,
  blockReasons,
  blockStatuses,
  listBlocks,
  readBlock,
  staysOfBlock,
} from './block-list.ts'
export { changeBlock, createBlock, previewBlock } from './blocks.ts'
export { clearUnits } from './clear.ts'
export { setConditions } from './conditions.ts'
export { enqueueTasks, generateTasks } from './daily-tasks.ts'
export { readHousekeepingBoard } from './housekeeping-board.ts'
export { lockPoolNights, moveInventory, registerReaper, usage } from './inventory.ts'
export type { Counters, Move, PoolNight, PoolNightKey } from './inventory.ts'
export { extendNights, nightsFrom, poolsShortOfHorizon } from './nights.ts'
export { observe } from './observe.ts'
export { readOversell, setOversell, unitPoolOf } from './oversell.ts'
export { archiveUnit, changeUnit, restoreUnit } from './placement.ts'
export { changePool, createPool, deletePool, insertPool, listPools, readPool } from './pools.ts'
export { propertiesWithCounters, recountNights, recountRange } from './recount.ts'
export { erasableRefusals, eraseRefusals } from './refusals.ts'
export { placeStays, poolsToRepack, repackHouse, repackPools, repackRange } from './repack.ts'
export { listSheets, publishSheet, readSheet, shareOutDay } from './sheets.ts'
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
export { swapUnits } from './swap.ts'
export { changeTask, listTasks, planTask, readTask } from './task-list.ts'
export { completeTask, inspectTask, skipTask, startTask } from './task-moves.ts'
export type { Guarded } from './task-moves.ts'
export { archiveUnitType, changeUnitType, requireSoldAs, restoreUnitType } from './type-changes.ts'
export { createUnitType, listUnitTypes, readUnitType } from './types.ts'
export { lackingUnits } from './unassigned.ts'
export type { Need } from './unassigned.ts'
export { tapeItems, tapeUnassigned, tapeUnits } from './unit-calendar.ts'
export type { TapeItem } from './unit-calendar.ts'
export { createUnits, listUnits, readUnit, readUnits, unitSorts } from './units.ts'
export type { UnitRecord } from './units.ts'
