// Events tell that something happened, and never what was answered.
const report = document.querySelector("shoal-report");
const thanks = document.querySelector("#thanks");
report.addEventListener("shoal-sent", ({ detail }) => {
  thanks.textContent = detail.duplicate ? "" : "Thank you for taking part!";
});
