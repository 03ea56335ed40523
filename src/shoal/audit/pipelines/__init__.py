"""Check scikit-learn pipelines for steps that read the records before the noise."""

from shoal.audit.pipelines.pipeline_check import check_pipeline
from shoal.audit.pipelines.report import PipelineReport, StepReport

__all__ = ["PipelineReport", "StepReport", "check_pipeline"]
