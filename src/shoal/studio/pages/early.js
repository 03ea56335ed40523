// Before anything is drawn: the colors that were chosen, so that no page flashes in others.
try {
  const kept = localStorage.getItem("shoal-theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
} catch {
  // A browser that keeps nothing: as the system has it.
}
